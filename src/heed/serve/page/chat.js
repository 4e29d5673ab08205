// A conversation with a chat model, streamed.

const DRAWING_SHARE = 0.25; // of the time, at most, in which a long answer is drawn while it arrives

class ChatPanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "chat", () => this.count());
    this.log = this.find(".log");
    this.input = this.find(".composer textarea");
    this.buttons = { send: this.find("[name=send]"), stop: this.find("[name=stop]") };
    this.settings = new ChatSettings(this.find(".settings"), this.find("[name=settings]"));
    this.meter = new ContextMeter(this.find(".meter"), server);
    this.attachments = new Attachments(element, () => this.count(), (error) => this.report(error));
    this.views = new Map(); // the Question or Answer of each message that was shown
    this.request = null; // an AbortController, while an answer is streamed
    this.listen();
    const kept = JSON.parse(sessionStorage.getItem("conversation") || "null");
    this.conversation = new Conversation(kept || undefined);
    this.setRunning(false);
  }

  listen() {
    this.find(".composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.input.addEventListener("input", () => {
      fitHeight(this.input);
      this.count();
    });
    this.input.addEventListener("keydown", (event) => {
      if (!sends(event)) return;
      event.preventDefault();
      this.send();
    });
    this.element.addEventListener("keydown", (event) => { if (event.key === "Escape") this.stop(); });
    this.buttons.stop.addEventListener("click", () => {
      this.stop();
      this.input.focus();
    });
    for (const example of this.element.querySelectorAll(".examples button")) {
      example.addEventListener("click", () => {
        this.input.value = example.textContent;
        this.send();
      });
    }
    this.find("[name=new]").addEventListener("click", () => this.begin());
    const menu = this.find(".menu");
    for (const button of menu.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        menu.open = false;
        exportConversation(button.name, this.settings.system, this.conversation.path);
      });
    }
    menu.addEventListener("focusout", (event) => { if (!menu.contains(event.relatedTarget)) menu.open = false; });
  }

  // ---- the conversation ----

  begin() {
    this.stop();
    this.conversation = new Conversation();
    this.views.clear();
    this.show();
    this.save();
    this.input.focus();
  }

  save() {
    try {
      sessionStorage.setItem("conversation", JSON.stringify(this.conversation.nodes));
    } catch {
      this.say("This conversation is too long to be kept: a reload of this page will lose its end.", "warning");
    }
  }

  view(node) {
    if (!this.views.has(node)) {
      const show = (version) => {
        this.conversation.show(version);
        this.show();
        this.save();
      };
      const actions = { show, edit: (from, text) => this.edit(from, text), regenerate: (from) => this.regenerate(from) };
      this.views.set(node, node.role === "user" ? new Question(node, actions) : new Answer(node, actions));
    }
    return this.views.get(node);
  }

  // Shows the open path, and what can be done with its messages now.
  show() {
    const views = this.conversation.path.map((node) => this.view(node));
    const elements = views.map((view) => view.element);
    [...this.log.children].filter((element) => !elements.includes(element)).forEach((element) => element.remove());
    this.log.append(...elements.filter((element) => !element.isConnected));
    for (const view of views) view.refresh(this.conversation.versions(view.node), Boolean(this.request));
    this.find(".menu").hidden = !views.length;
    this.count();
  }

  // The tokens of the draft and of what is before it.
  count() {
    if (!this.conversation) return;
    const used = this.conversation.path.findLast((node) => node.tokens)?.tokens || 0;
    const text = withFiles(this.input.value.trim(), this.attachments.files);
    this.meter.show(this.choice.name, text, used, this.choice.model?.context_length);
  }

  send() {
    const content = this.input.value.trim();
    const { files } = this.attachments;
    if ((!content && !files.length) || this.request) return;
    this.say("");
    const question = this.conversation.add({ role: "user", content, files }, this.conversation.path.at(-1));
    this.input.value = "";
    fitHeight(this.input);
    this.attachments.set([]);
    this.ask(question);
  }

  edit(node, content) {
    if (!this.request) this.ask(this.conversation.addVersion(node, { role: "user", content, files: node.files }));
  }

  stop() { if (this.request) this.request.abort(); }

  setRunning(running) {
    this.buttons.send.hidden = running;
    this.buttons.stop.hidden = !running;
    // A screen reader reads the answer once it is whole.
    this.log.setAttribute("aria-busy", String(running));
    this.show();
  }

  // ---- the answer ----

  ask(question) { this.answer(this.conversation.add(this.emptyAnswer(), question)); }

  // Another answer, in place of one that failed.
  regenerate(node) {
    const failed = !node.content && !node.reasoning;
    this.answer(failed ? Object.assign(node, this.emptyAnswer()) : this.conversation.addVersion(node, this.emptyAnswer()));
  }

  emptyAnswer() { return { role: "assistant", model: this.choice.name, content: "", reasoning: "", note: "" }; }

  body(node) {
    const path = this.conversation.pathTo(node).slice(0, -1);
    const answered = path.filter((one, i) => i === path.length - 1 || (path[i + (one.role === "user" ? 1 : 0)].content));
    const { system } = this.settings;
    const version = this.conversation.versions(node).indexOf(node);
    const fields = this.settings.fields(version);
    return { model: this.choice.name, messages: messagesOf(system, answered), stream: true,
      stream_options: { include_usage: true }, ...fields };
  }

  async answer(node) {
    if (this.request) return;
    this.request = new AbortController();
    const view = this.view(node);
    view.begin();
    this.setRunning(true);
    scrollTo(0, document.documentElement.scrollHeight);
    const drawing = new Drawing(() => this.followEnd(() => view.grow()));
    let problem = "";
    try {
      const body = this.body(node);
      Object.assign(node, { seed: body.seed, isJson: Boolean(body.response_format) });
      const options = { body, signal: this.request.signal };
      for await (const chunk of this.server.events("v1/chat/completions", options)) {
        view.receive(chunk);
        drawing.ask();
      }
    } catch (error) {
      problem = aborted(error) ? "Stopped by you." : sentence(error.message);
    }
    drawing.end();
    this.request = null;
    this.followEnd(() => {
      view.end(problem, this.choice.model?.context_length);
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

// Draws what arrives at most once a frame, and less often if it takes long.
class Drawing {
  constructor(draw) {
    this.draw = draw;
    this.frame = 0;
    this.next = 0; // the time of the next drawing
  }

  ask() { this.frame ||= requestAnimationFrame(() => this.run()); }

  run() {
    this.frame = 0;
    const begin = performance.now();
    if (begin < this.next) return this.ask();
    this.draw();
    this.next = begin + (performance.now() - begin) / DRAWING_SHARE;
  }

  end() { cancelAnimationFrame(this.frame); }
}
