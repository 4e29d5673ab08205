// The settings of a chat, kept in the tab.

// The fields of a request for an answer that a JSON Schema allows, with what the model would have said.
function schemaFields(text) {
  return {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: JSON.parse(text) } },
    structured_outputs: { free_log_probabilities: true },
    logprobs: true,
    top_logprobs: 6,
  };
}

class ChatSettings {
  constructor(card, button) {
    this.card = card;
    this.inputs = [...card.querySelectorAll("input, textarea")];
    const kept = JSON.parse(sessionStorage.getItem("settings") || "{}");
    for (const input of this.inputs) input.value = kept[input.name] ?? input.value;
    card.addEventListener("change", () => {
      const values = Object.fromEntries(this.inputs.map(({ name, value }) => [name, value]));
      sessionStorage.setItem("settings", JSON.stringify(values));
    });
    button.addEventListener("click", () => {
      card.hidden = !card.hidden;
      button.setAttribute("aria-expanded", String(!card.hidden));
    });
  }

  text(name) { return this.inputs.find((input) => input.name === name).value.trim(); }
  get system() { return this.text("system"); }

  // For a request. The seed of version 0, 1, ... of an answer differs.
  fields(version) {
    const fields = {};
    for (const { type, name, value } of this.inputs) if (type === "number" && value !== "") fields[name] = Number(value);
    fields.seed = fields.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : fields.seed + version;
    return this.text("schema") ? { ...fields, ...schemaFields(this.text("schema")) } : fields;
  }
}
