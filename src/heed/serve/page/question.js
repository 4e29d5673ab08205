// A question of the reader, which can be edited: node {content, files}.

class Question {
  // `actions`: edit(node, text) sends another version, show(node) opens one.
  constructor(node, actions) {
    this.node = node;
    this.versions = new VersionSwitch(actions.show);
    const text = make("p", "text", node.content);
    text.dir = "auto";
    this.bubble = make("div", "question", ...(node.content ? [text] : []), ...(node.files || []).map(fileRow));
    const copy = makeButton("plain", "Copy", () => {});
    copyOnClick(copy, () => withFiles(node.content, node.files));
    this.editButton = makeButton("plain", "Edit", () => this.edit());
    this.foot = make("div", "foot quiet", this.versions.element, copy, this.editButton);
    this.editor = this.makeEditor(actions.edit);
    this.element = make("div", "asked", this.bubble, this.editor, this.foot);
  }

  makeEditor(send) {
    this.input = make("textarea", "");
    this.input.dir = "auto";
    this.input.setAttribute("aria-label", "Edited message");
    const editor = make("form", "card editing", this.input, make("div", "actions",
      makeButton("plain", "Cancel", () => this.close()), make("button", "primary", "Send")));
    editor.hidden = true;
    editor.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (!text && !this.node.files?.length) return;
      this.close();
      send(this.node, text);
    });
    this.input.addEventListener("input", () => fitHeight(this.input));
    this.input.addEventListener("keydown", (event) => {
      if (sends(event)) editor.requestSubmit();
      else if (event.key === "Escape") this.close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return editor;
  }

  edit() {
    this.swap(true);
    this.input.value = this.node.content;
    fitHeight(this.input);
    this.input.focus();
  }

  close() {
    this.swap(false);
    this.editButton.focus();
  }

  swap(editing) {
    this.editor.hidden = !editing;
    this.bubble.hidden = this.foot.hidden = editing;
  }

  // isBusy: an answer is being streamed.
  refresh(versions, isBusy) {
    this.versions.show(versions, this.node);
    this.editButton.hidden = isBusy;
  }
}

// As high as its text.
function fitHeight(input) {
  input.style.height = "auto";
  input.style.height = input.scrollHeight + "px";
}

// Whether a key sends a message: Enter, where there is a keyboard with a Shift key.
function sends(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && !matchMedia("(pointer: coarse)").matches;
}
