// An answer of a model, while it arrives and afterwards: node {model, reasoning, content, note, seed, tokens, isJson}.

// Why an answer ended, in words. tokens: of the conversation with the answer; context: how many the model can read.
function endingOf(reason, tokens, context) {
  if (reason === "length" && context && tokens >= context) return `Stopped: the context of ${whole(context)} tokens is full.`;
  return {
    stop: "Complete.",
    length: "Stopped at the token limit.",
    tool_calls: "The model asked for a tool, which this page does not have.",
    content_filter: "Stopped by a filter.",
  }[reason] || "";
}

class Answer {
  // `actions`: regenerate(node), show(node) opens a version.
  constructor(node, actions) {
    this.node = node;
    this.reasoning = make("p", "text");
    this.reasoning.dir = "auto";
    this.details = make("details", "reasoning", make("summary", "", "Reasoning"), this.reasoning);
    this.content = make("div", "content markdown");
    this.view = new MarkdownView(this.content);
    this.choices = new Choices();
    this.model = make("span", "model");
    this.note = make("span", "note");
    this.versions = new VersionSwitch(actions.show);
    const copy = makeButton("plain", "Copy", () => {});
    copyOnClick(copy, () => this.node.content);
    this.again = makeButton("plain", "Regenerate", () => actions.regenerate(this.node));
    this.foot = make("div", "foot", this.versions.element, copy, this.again, this.note);
    this.element = make("div", "answer", this.model, this.details, this.content, this.choices.element, this.foot);
    this.entries = []; // the log-probabilities of the tokens, if there are any
    this.grow();
    this.note.textContent = node.note || "";
  }

  begin() {
    this.begun = performance.now();
    this.first = this.finish = this.usage = null;
    this.element.classList.add("running");
    this.foot.hidden = true;
  }

  receive({ model, choices, usage }) {
    const { node } = this;
    this.usage = usage || this.usage;
    this.first ||= performance.now();
    node.model = model;
    for (const { delta, finish_reason: reason, logprobs } of choices) {
      this.entries.push(...((logprobs && logprobs.content) || []));
      this.finish = reason || this.finish;
      node.reasoning += delta.reasoning_content || "";
      node.content += delta.content || "";
    }
  }

  // Shows what was received.
  grow() {
    const { model, reasoning = "", content, isJson } = this.node;
    if (reasoning && this.details.hidden) this.details.open = !content; // until the answer begins
    else if (content && !this.view.text) this.details.open = false;
    this.details.hidden = !reasoning;
    this.model.textContent = model;
    this.reasoning.append(reasoning.slice(this.reasoning.textContent.length)); // keeps what is selected
    this.view.show(isJson && content ? "```json\n" + content : content);
  }

  // `problem`: why the answer is not whole; empty if it is. context: of the model, in tokens.
  end(problem, context) {
    const { node, usage } = this;
    const notes = [];
    if (usage) {
      const tokens = usage.completion_tokens;
      const seconds = (performance.now() - this.first) / 1000;
      notes.push(`${whole(tokens)} token${tokens === 1 ? "" : "s"}`);
      if (tokens > 1 && seconds > 0) notes.push(`${rate((tokens - 1) / seconds)} tokens/s`);
      notes.push(`first after ${Math.round(this.first - this.begun)} ms`);
      node.tokens = usage.total_tokens;
    }
    if (node.content) notes.push(`seed ${node.seed}`);
    const ending = problem || endingOf(this.finish, node.tokens, context);
    node.note = this.note.textContent = [ending, notes.join(" · ")].filter(Boolean).join(" ");
    this.grow();
    this.choices.show(this.entries);
    this.element.classList.remove("running");
    this.foot.hidden = false;
  }

  // isBusy: an answer is being streamed.
  refresh(versions, isBusy) {
    this.versions.show(versions, this.node);
    this.again.hidden = isBusy;
  }
}
