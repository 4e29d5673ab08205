// Lines of words, each an element that can light up together with the words that it is aligned with.

class Words {
  constructor(host) {
    this.host = host;
    this.lines = []; // the elements of the words of each line
    this.lit = [];
  }

  // Shows texts, one to a line; `className(i)` is the class of line i.
  show(texts, className = () => "") {
    this.lines = [];
    this.lit = [];
    this.host.replaceChildren(...texts.map((text, line) => {
      const parts = text.match(/\s+|\S+/g) || [];
      const elements = parts.map((part) => (part.trim() ? make("span", "word", part) : part));
      this.lines.push(elements.filter((element) => typeof element !== "string"));
      const element = make("div", className(line), ...elements);
      element.dir = "auto"; // as a textarea does
      return element;
    }));
  }

  // {line, word} of an element, or null.
  place(element) {
    const line = this.lines.findIndex((words) => words.includes(element));
    return line < 0 ? null : { line, word: this.lines[line].indexOf(element) };
  }

  // The word at a point of the window, also one that lies under something else.
  at(event) {
    const element = document.elementsFromPoint(event.clientX, event.clientY)
      .find((one) => one.classList.contains("word") && this.host.contains(one));
    return element ? this.place(element) : null;
  }

  light(line, words) {
    for (const element of this.lit) element.classList.remove("lit");
    this.lit = words.map((word) => this.lines[line] && this.lines[line][word]).filter(Boolean);
    for (const element of this.lit) element.classList.add("lit");
  }
}
