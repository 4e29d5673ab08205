// A conversation with a chat model, streamed. What a model says is text and never becomes markup.

const FINISH_NOTES = {
  length: "The longest answer was reached.",
  tool_calls: "The model called a function, which this page does not have.",
};

// The fields of a request for an answer that a JSON Schema allows, with what the model would have said.
function schemaFields(text) {
  return {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: JSON.parse(text) } },
    structured_outputs: { free_log_probabilities: true },
    logprobs: true,
    top_logprobs: 6,
  };
}

class ChatPanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "chat", () => {});
    this.log = this.find(".log");
    this.input = this.find(".composer textarea");
    this.buttons = { send: this.find("[name=send]"), stop: this.find("[name=stop]") };
    this.turns = []; // the Turns of this conversation
    this.request = null; // an AbortController, while an answer is streamed
    this.listen();
    this.restore();
    this.setRunning(false);
  }

  listen() {
    this.find(".composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.input.addEventListener("input", () => this.fit());
    this.input.addEventListener("keydown", (event) => {
      const newline = event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches;
      if (event.key !== "Enter" || newline) return;
      event.preventDefault();
      this.send();
    });
    this.element.addEventListener("keydown", (event) => { if (event.key === "Escape") this.stop(); });
    this.buttons.stop.addEventListener("click", () => {
      this.stop();
      this.input.focus();
    });
    const settings = this.find("[name=settings]");
    settings.addEventListener("click", () => {
      const card = this.find(".settings");
      card.hidden = !card.hidden;
      settings.setAttribute("aria-expanded", String(!card.hidden));
    });
    this.find("[name=new]").addEventListener("click", () => this.begin());
  }

  // As high as its text.
  fit() {
    this.input.style.height = "auto";
    this.input.style.height = this.input.scrollHeight + "px";
  }

  // ---- the conversation ----

  begin() {
    this.stop();
    this.turns = [];
    this.log.replaceChildren();
    this.save();
    this.input.focus();
  }

  save() { sessionStorage.setItem("chat", JSON.stringify(this.turns.map((turn) => turn.data))); }

  restore() {
    for (const data of JSON.parse(sessionStorage.getItem("chat") || "[]")) this.add(data);
    this.markLast();
  }

  add(data) {
    const turn = new Turn(data, () => this.answer(turn));
    this.turns.push(turn);
    this.log.append(turn.element);
    return turn;
  }

  send() {
    const question = this.input.value.trim();
    if (!question || this.request) return;
    this.input.value = "";
    this.fit();
    this.answer(this.add({ question }));
  }

  stop() { if (this.request) this.request.abort(); }

  // Only the last answer can be regenerated.
  markLast() {
    this.turns.forEach((turn, i) => { turn.again.hidden = Boolean(this.request) || i < this.turns.length - 1; });
  }

  setRunning(running) {
    this.buttons.send.hidden = running;
    this.buttons.stop.hidden = !running;
    // A screen reader reads the answer once it is whole.
    this.log.setAttribute("aria-busy", String(running));
    this.markLast();
  }

  // ---- the answer ----

  body(turn) {
    const messages = [];
    const system = this.find("[name=system]").value.trim();
    if (system) messages.push({ role: "system", content: system });
    for (const { data } of this.turns) {
      if (data !== turn.data && !data.content) continue; // was never answered
      messages.push({ role: "user", content: data.question });
      if (data !== turn.data) messages.push({ role: "assistant", content: data.content });
    }
    const body = { model: this.choice.name, messages, stream: true, stream_options: { include_usage: true } };
    for (const { name, value } of this.element.querySelectorAll(".numbers input")) {
      if (value !== "") body[name] = Number(value);
    }
    body.seed ??= Math.floor(Math.random() * 2 ** 53);
    const schema = this.find("[name=schema]").value.trim();
    if (schema) Object.assign(body, schemaFields(schema));
    return body;
  }

  async answer(turn) {
    if (this.request) return;
    this.request = new AbortController();
    turn.begin(this.choice.name);
    this.setRunning(true);
    scrollTo(0, document.documentElement.scrollHeight);
    let problem = "";
    let frame = 0; // what arrives is drawn once a frame, however fast the model is
    const draw = () => {
      frame = 0;
      this.followEnd(() => turn.grow());
    };
    try {
      const options = { body: this.body(turn), signal: this.request.signal };
      for await (const chunk of this.server.events("v1/chat/completions", options)) {
        turn.receive(chunk);
        frame ||= requestAnimationFrame(draw);
      }
    } catch (error) {
      problem = aborted(error) ? "Stopped." : sentence(error.message);
    }
    cancelAnimationFrame(frame);
    this.request = null;
    this.followEnd(() => {
      turn.end(problem);
      this.setRunning(false);
    });
    this.save();
  }

  // Keeps the end of the page in sight while `change` lengthens it, unless the reader has scrolled up.
  followEnd(change) {
    const page = document.documentElement;
    const atEnd = innerHeight + scrollY > page.scrollHeight - 60;
    change();
    if (atEnd) scrollTo(0, page.scrollHeight);
  }
}
