// HTML and SVG elements for the controls of a page, and its theme.

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

// The SVG namespace, taken from the parser so that the page contains no URL.
const SVG_NAMESPACE = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;

const svg = (tag, attributes, ...content) => {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
};

// Whether the page is dark, as the system is or as the page chooses.
function isDark() { return getComputedStyle(document.documentElement).colorScheme === "dark"; }

// Calls `listener` when isDark() has changed. A page that chooses by itself sends "themechange".
function onThemeChange(listener) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
  document.addEventListener("themechange", listener);
}
