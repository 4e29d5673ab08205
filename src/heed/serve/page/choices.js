// The tokens of an answer that must match a schema. A token shows what the model found most probable
// in its place, and why it could not choose it.

class Choices {
  constructor() {
    this.tokens = make("p", "text tokens");
    this.list = make("ol", "candidates");
    this.list.setAttribute("aria-live", "polite");
    this.element = make("details", "reasoning", make("summary", "", "Tokens and what was forbidden"),
      this.tokens, this.list);
    this.show([]);
  }

  // entries: those of "logprobs".
  show(entries) {
    this.element.hidden = entries.length === 0;
    this.tokens.replaceChildren(...entries.map((entry) => {
      const isForbidden = ({ forbidden }) => Boolean(forbidden);
      const token = makeButton("token", visible(entry.token), () => this.choose(token, entry));
      token.classList.toggle("steered", entry.top_logprobs.slice(0, 1).some(isForbidden));
      return token;
    }));
    this.list.replaceChildren();
  }

  choose(token, entry) {
    for (const other of this.tokens.querySelectorAll("[aria-pressed=true]")) other.setAttribute("aria-pressed", "false");
    token.setAttribute("aria-pressed", "true");
    this.list.replaceChildren(...entry.top_logprobs.map((one) => {
      const percent = (100 * Math.exp(one.logprob)).toPrecision(3) + " %";
      const why = one.forbidden || (one.token === entry.token ? "chosen" : "");
      return make("li", one.forbidden ? "forbidden" : "", make("code", "", visible(one.token)),
        make("span", "note", percent), make("span", "note", why));
    }));
  }
}

// White space and an empty text as signs.
function visible(text) {
  return text.replace(/ /g, "␣").replace(/\n/g, "↵").replace(/\t/g, "⇥") || "∅";
}
