// Copies a text; returns whether it worked. The clipboard needs a secure context, an old command does not.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const area = make("textarea", "hidden");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

// Copies what `text` returns when `button` is pressed, and says so on the button.
function copyOnClick(button, text) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(text())) ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
