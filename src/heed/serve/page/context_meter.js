// Counts the tokens of the message that is being written, and those of the conversation before it.

const COUNT_SECONDS = 0.4; // after the last change

class ContextMeter {
  constructor(element, server) {
    Object.assign(this, { element, server });
    this.request = new AbortController();
    this.counted = ["", "", 0]; // a model, a text, its tokens
  }

  // used: the tokens of the conversation so far; context: how many the model can read.
  async show(model, text, used, context) {
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    try {
      if (!text) return this.say(0, used, context);
      if (this.counted[0] !== model || this.counted[1] !== text) {
        await pause(COUNT_SECONDS, signal);
        const body = { model, text, special: false };
        const { count } = await this.server.json("v1/tokenize", { body, signal });
        this.counted = [model, text, count];
      }
      this.say(this.counted[2], used, context);
    } catch (error) {
      if (!aborted(error)) this.element.textContent = "";
    }
  }

  say(draft, used, context) {
    const all = draft + used;
    const tokens = `${whole(all)} ${context ? `of ${whole(context)} ` : ""}token${all === 1 && !context ? "" : "s"}`;
    const tooLong = context && all >= context;
    this.element.textContent = !all ? "" : tooLong ? `${tokens}: too long for this model` : tokens;
    this.element.title = `This message: ${whole(draft)}. The conversation before it: ${whole(used)}.`;
    this.element.classList.toggle("warning", Boolean(tooLong));
  }
}
