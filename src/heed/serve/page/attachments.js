// Text files that go into a message: {name, text}.

const MAX_FILE_BYTES = 1 << 20;

// The text of a file. Throws RequestError if it has none, or too much of it.
async function readTextFile(file) {
  if (file.size > MAX_FILE_BYTES)
    throw new RequestError(`At most 1 MB can be read, and ${file.name} has ${(file.size / 2 ** 20).toFixed(1)} MB`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes("\0")) throw new TypeError();
    return { name: file.name, text: text.replaceAll("\r\n", "\n") };
  } catch {
    throw new RequestError(`Only texts in UTF-8 can be read, and ${file.name} is none`);
  }
}

// What a model reads: the message, and each file as a block of code that its text cannot end.
function withFiles(content, files = []) {
  const blocks = files.map(({ name, text }) => {
    const longest = Math.max(2, ...(text.match(/`+/g) || []).map((run) => run.length));
    const fence = "`".repeat(longest + 1);
    return `${name}:\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
  });
  return [content, ...blocks].filter(Boolean).join("\n\n");
}

// A file as a row that unfolds to its text.
function fileRow({ name, text }) {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const size = make("span", "note", `${lines.toLocaleString("en")} line${lines === 1 ? "" : "s"}`);
  return make("details", "file", make("summary", "", make("bdi", "", name), " ", size),
    scrollable(name, make("pre", "", text)));
}

// The files of the message that is being written.
class Attachments {
  // `changed` is called when there are others, `report` with what is wrong with one.
  constructor(panel, changed, report) {
    this.host = panel.querySelector(".attached");
    this.files = [];
    Object.assign(this, { changed, report });
    const input = panel.querySelector("[name=files]");
    panel.querySelector("[name=attach]").addEventListener("click", () => input.click());
    input.addEventListener("change", async () => {
      await this.add(input.files);
      input.value = "";
    });
    panel.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
    panel.addEventListener("drop", (event) => this.take(event, event.dataTransfer.files));
    panel.addEventListener("paste", (event) => this.take(event, event.clipboardData.files));
  }

  take(event, files) {
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  async add(files) {
    for (const file of files) {
      try {
        this.set([...this.files, await readTextFile(file)]);
      } catch (error) {
        this.report(error);
      }
    }
  }

  set(files) {
    this.files = files;
    this.host.replaceChildren(...files.map((file) => {
      const remove = makeButton("icon", "✕", () => this.set(this.files.filter((other) => other !== file)));
      remove.setAttribute("aria-label", `Remove ${file.name}`);
      return make("div", "chip", make("bdi", "", file.name), remove);
    }));
    this.host.hidden = !files.length;
    this.changed();
  }
}
