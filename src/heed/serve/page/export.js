// A conversation as a file.

// The messages as a model reads them.
function messagesOf(system, path) {
  const messages = path.map(({ role, content, files }) => ({ role, content: withFiles(content, files) }));
  return system ? [{ role: "system", content: system }, ...messages] : messages;
}

function markdownOf(system, path) {
  const part = (title, text) => `## ${title}\n\n${text}\n`;
  const parts = path.map((node) => part(node.role === "user" ? "You" : node.model, withFiles(node.content, node.files)));
  return ["# Conversation\n", ...(system ? [part("System", system)] : []), ...parts].join("\n");
}

// As the body of a request, with what is known of each answer.
function jsonOf(system, path) {
  const answers = path.filter(({ role }) => role === "assistant")
    .map(({ model, seed, reasoning, note }) => ({ model, seed, reasoning, note }));
  return JSON.stringify({ model: answers.at(-1)?.model, messages: messagesOf(system, path), answers }, null, 2) + "\n";
}

function saveFile(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = make("a", "");
  Object.assign(anchor, { href: address, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function exportConversation(format, system, path) {
  const name = `conversation-${new Date().toISOString().slice(0, 16).replace(":", "")}`;
  if (format === "json") saveFile(name + ".json", "application/json", jsonOf(system, path));
  else saveFile(name + ".md", "text/markdown", markdownOf(system, path));
}
