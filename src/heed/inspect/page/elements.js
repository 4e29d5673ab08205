// HTML elements for the controls of a page.

function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

function makeButton(className, label, onClick) {
  const button = make("button", className, label);
  button.type = "button";
  button.addEventListener("click", onClick);
  return button;
}

// A row of buttons of which one is pressed. options: [[value, label], ...]
function segments(className, options, choose) {
  const row = make("div", "segments " + className);
  for (const [value, label] of options) {
    const button = makeButton("", label, () => choose(value));
    button.value = value;
    row.append(button);
  }
  return row;
}

function setPressed(button, pressed) { button.setAttribute("aria-pressed", String(pressed)); }

// Presses the button of `value` in a row made by segments().
function press(row, value) {
  for (const button of row.children) setPressed(button, button.value === String(value));
}
