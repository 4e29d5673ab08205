// Requests to the server. One that is refused for now, or that finds no server, waits and asks again.

const RETRY_SECONDS = 2;

// An answer that says what is wrong with the request, or an answer that broke off.
class RequestError extends Error {}

// Resolves after some seconds; rejects when `signal` aborts.
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const end = () => { clearTimeout(timer); reject(signal.reason); };
    const timer = setTimeout(() => {
      if (signal) signal.removeEventListener("abort", end);
      resolve();
    }, 1000 * seconds);
    if (signal && signal.aborted) end();
    else if (signal) signal.addEventListener("abort", end, { once: true });
  });
}

// The message of an error in OpenAI's form.
async function messageOf(response) {
  const body = await response.json().catch(() => null);
  return body?.error?.message || `the server answered ${response.status}`;
}

// A message of the server as a sentence.
const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

const aborted = (error) => error.name === "AbortError";

class Server {
  // Says what is wrong in `notice`, and asks for an API key with `dialog`.
  constructor(notice, dialog) {
    this.notice = notice;
    this.dialog = dialog;
    this.waiting = new Map(); // what each waiting request, or else who waits, says
    this.key = sessionStorage.getItem("api_key") || "";
    this.asking = null; // resolves when a key was given
    this.onReturn = () => {}; // the server is there again
    this.onUnknown = () => {}; // it does not know a model that it was asked for
  }

  // The response to a GET, or with a body to a POST. Throws RequestError, and AbortError when `signal` aborts.
  async request(path, { body, signal } = {}) {
    const id = Symbol(path);
    try {
      for (;;) {
        const response = await this.send(path, body, signal);
        if (!response) {
          this.say(id, "The server cannot be reached. This page goes on as soon as it is back.");
          this.lost = true;
          await pause(RETRY_SECONDS, signal);
        } else if (response.ok) {
          return response;
        } else if (response.status === 401) {
          await this.askForKey();
        } else if (response.status === 429 || response.status === 503) {
          const seconds = Number(response.headers.get("Retry-After")) || RETRY_SECONDS;
          const state = response.status === 429 ? "busy" : "not ready";
          this.say(id, `The server is ${state}: ${await messageOf(response)}. Trying again in ${seconds} s.`);
          await pause(seconds, signal);
        } else {
          if (response.status === 404 && body) this.onUnknown();
          throw new RequestError(await messageOf(response));
        }
      }
    } finally {
      this.say(id, "");
    }
  }

  // The response, or null if there is none.
  async send(path, body, signal) {
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    if (body) headers["Content-Type"] = "application/json";
    try {
      const method = body ? "POST" : "GET";
      const response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
      if (this.lost) {
        this.lost = false;
        this.onReturn();
      }
      return response;
    } catch (error) {
      if (aborted(error)) throw error;
      return null;
    }
  }

  // Whether it accepts requests: not while it loads models.
  async isReady() {
    const response = await this.send("health");
    return Boolean(response && response.ok);
  }

  async json(path, options) { return (await this.request(path, options)).json(); }

  // The data of server-sent events, as they arrive. Throws RequestError if they end before "[DONE]".
  async *events(path, options) {
    const response = await this.request(path, options);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          if (line === "data: [DONE]") return;
          const data = JSON.parse(line.slice(6));
          if (data.error) throw new RequestError(data.error.message);
          yield data;
        }
      }
    } catch (error) {
      if (aborted(error) || error instanceof RequestError) throw error;
    }
    throw new RequestError("the server went away before the answer was complete");
  }

  // What a request waits for; nothing once it goes on.
  say(id, text) {
    if (text) this.waiting.set(id, text);
    else this.waiting.delete(id);
    const shown = [...this.waiting.values()].at(-1) || "";
    if (this.notice.textContent !== shown) this.notice.textContent = shown;
    this.notice.hidden = !shown;
  }

  askForKey() {
    this.asking ||= new Promise((resolve) => {
      const input = this.dialog.querySelector("input");
      this.dialog.querySelector(".state").textContent = this.key ? "The server does not accept this key." : "";
      input.value = "";
      this.dialog.oncancel = (event) => event.preventDefault();
      this.dialog.onclose = () => {
        this.key = input.value.trim();
        sessionStorage.setItem("api_key", this.key);
        this.asking = null;
        resolve();
      };
      this.dialog.showModal();
    });
    return this.asking;
  }
}
