// A question and its answer. data: {question, model, reasoning, content, note}.

class Turn {
  constructor(data, regenerate) {
    this.data = data;
    this.reasoning = make("p", "text");
    this.details = make("details", "reasoning", make("summary", "", "Reasoning"), this.reasoning);
    this.content = make("p", "text content");
    this.content.dir = this.reasoning.dir = "auto";
    this.choices = new Choices();
    this.model = make("span", "model");
    this.note = make("span", "note");
    const copy = makeButton("plain", "Copy", () => {});
    copyOnClick(copy, () => this.data.content);
    this.again = makeButton("plain", "Regenerate", regenerate);
    this.foot = make("div", "foot", this.note, copy, this.again);
    const question = make("p", "text question", data.question);
    question.dir = "auto";
    const answer = make("div", "answer", this.model, this.details, this.content, this.choices.element, this.foot);
    this.element = make("div", "turn", question, answer);
    this.show();
  }

  show() {
    const { model = "", reasoning = "", content = "", note = "" } = this.data;
    this.model.textContent = model;
    this.reasoning.textContent = reasoning;
    this.details.hidden = !reasoning;
    this.content.textContent = content;
    this.note.textContent = note;
  }

  begin(model) {
    Object.assign(this.data, { model, reasoning: "", content: "", note: "" });
    this.begun = performance.now();
    this.first = this.finish = this.usage = null;
    this.entries = []; // the log-probabilities of the tokens, if there are any
    this.choices.show(this.entries);
    this.show();
    this.element.classList.add("running");
    this.foot.hidden = true;
  }

  receive({ model, choices, usage }) {
    const { data } = this;
    this.usage = usage || this.usage;
    this.first ||= performance.now();
    data.model = model;
    for (const { delta, finish_reason: reason, logprobs } of choices) {
      this.entries.push(...((logprobs && logprobs.content) || []));
      this.finish = reason || this.finish;
      data.reasoning += delta.reasoning_content || "";
      data.content += delta.content || "";
    }
  }

  // Shows what was received. Appending keeps what the reader has selected.
  grow() {
    const { model, reasoning, content } = this.data;
    const append = (element, text) => element.append(text.slice(element.textContent.length));
    if (reasoning && this.details.hidden) this.details.open = !content; // until the answer begins
    else if (content && !this.content.textContent) this.details.open = false;
    this.details.hidden = !reasoning;
    this.model.textContent = model;
    append(this.reasoning, reasoning);
    append(this.content, content);
  }

  // `problem`: why the answer is not whole; empty if it is.
  end(problem) {
    const notes = [problem || FINISH_NOTES[this.finish] || ""];
    if (this.usage) {
      const tokens = this.usage.completion_tokens;
      const seconds = (performance.now() - this.first) / 1000;
      const speed = tokens > 1 && seconds > 0 ? `, ${((tokens - 1) / seconds).toPrecision(3)} tokens/s` : "";
      const delay = Math.round(this.first - this.begun);
      notes.push(`${tokens} token${tokens === 1 ? "" : "s"}${speed}, first after ${delay} ms`);
    }
    this.data.note = this.note.textContent = notes.filter(Boolean).join(" ");
    this.grow();
    this.choices.show(this.entries);
    this.element.classList.remove("running");
    this.foot.hidden = false;
  }
}
