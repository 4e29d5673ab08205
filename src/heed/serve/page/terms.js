// Terms that a translation must have, which people edit in a table and which are kept for the next visit.

class Terms {
  // `changed` is called when there are others.
  constructor(host, changed) {
    this.host = host;
    this.rows = host.querySelector(".rows");
    this.changed = changed;
    this.kept = JSON.parse(localStorage.getItem("terms") || "{}"); // lists of [term, translation], by key
    this.list = [];
    this.rows.addEventListener("input", () => this.grow());
    this.rows.addEventListener("change", () => this.read());
    this.rows.addEventListener("paste", (event) => this.paste(event));
  }

  // Shows those of a key: a target language, or a model that has no choice of them.
  offer(key) {
    this.key = key;
    this.list = this.kept[key] || [];
    this.rows.replaceChildren(...this.list.map((pair) => this.row(pair)));
    this.grow();
    this.count();
  }

  // Behind the last term is a row for a further one.
  grow() {
    const term = this.rows.lastChild?.querySelector("input").value;
    if (term !== "") this.rows.append(this.row(["", ""]));
  }

  count() {
    const { length } = this.list;
    this.host.querySelector("summary").textContent = length ? `Terms (${length})` : "Terms";
  }

  row(pair) {
    const inputs = pair.map((value, side) => {
      const input = make("input", "");
      input.value = value;
      input.dir = "auto";
      input.placeholder = side ? "Unchanged" : "Term";
      input.setAttribute("aria-label", side ? "Translation of the term" : "Term");
      return input;
    });
    const remove = makeButton("icon", "✕", () => {
      const next = row.nextElementSibling;
      row.remove();
      this.read();
      next.querySelector(next.nextSibling ? "button" : "input").focus();
    });
    remove.setAttribute("aria-label", "Remove the term");
    const row = make("div", "row", ...inputs, remove);
    return row;
  }

  // Takes over what is in the table. Rows without a term are no terms.
  read() {
    const values = (row) => [...row.querySelectorAll("input")].map(({ value }) => value.trim());
    this.take([...this.rows.children].map(values).filter(([term]) => term));
  }

  take(list) {
    this.list = list;
    this.kept[this.key] = list;
    localStorage.setItem("terms", JSON.stringify(this.kept));
    this.count();
    this.changed();
  }

  // Lines of a table: a term, a tab, its translation.
  paste(event) {
    const text = event.clipboardData.getData("text/plain");
    if (!/[\t\n]/.test(text.trim())) return;
    event.preventDefault();
    this.read();
    const added = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => {
      const [term, translation = ""] = line.split("\t").map((part) => part.trim());
      return [term, translation];
    });
    this.take([...this.list, ...added.filter(([term]) => term)]);
    this.offer(this.key);
  }

  // For a request. Alternatives are separated by "|".
  get fields() {
    const glossary = this.list.filter(([, target]) => target).map(([source, target]) => {
      const targets = target.split("|").map((one) => one.trim()).filter(Boolean);
      return { source, target: targets.length > 1 ? targets : targets[0] };
    });
    const unchanged = this.list.filter(([, target]) => !target).map(([source]) => source);
    return { ...(glossary.length && { glossary }), ...(unchanged.length && { do_not_translate: unchanged }) };
  }
}
