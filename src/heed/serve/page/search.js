// Search by meaning: the reader's files as passages with vectors, which stay in this tab.

const EMBED_BATCH = 16; // passages of a request
const SHOWN_RESULTS = 10;
const RERANKED = 30; // the nearest passages, which a reranker reads again

class SearchPanel extends Panel {
  constructor(element, server, models) {
    super(element, server, models, "search", (model) => this.take(model));
    this.models = models;
    this.input = this.find("[name=query]");
    this.reranker = this.find("[name=reranker]");
    this.results = this.find(".results");
    this.passages = []; // {file, text, vector}, of all files
    this.files = new Attachments(element, () => this.index(), (error) => this.report(error));
    this.indexing = this.asking = new AbortController();
    this.find("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
    this.reranker.addEventListener("change", () => this.search());
  }

  refresh() {
    super.refresh();
    const { value } = this.reranker;
    const able = this.models.that("rerank");
    this.reranker.replaceChildren(new Option("None", ""), ...able.map(({ id }) => new Option(id, id)));
    this.reranker.value = able.some(({ id }) => id === value) ? value : "";
    this.reranker.parentElement.hidden = !able.length;
  }

  // Another model has other vectors.
  take({ id }) {
    if (id === this.embedder) return;
    this.embedder = id;
    for (const passage of this.passages) passage.vector = null;
    this.index();
  }

  async embed(texts, purpose, signal) {
    const body = { model: this.embedder, input: texts, input_type: purpose, truncate: true };
    const { data } = await this.server.json("v1/embeddings", { body, signal });
    return data.map(({ embedding }) => unitVector(embedding));
  }

  // Gives all passages of the files their vectors; what has one keeps it.
  async index() {
    const kept = new Map(this.passages.map((passage) => [passage.file, []]));
    for (const passage of this.passages) kept.get(passage.file).push(passage);
    this.passages = this.files.files.flatMap((file) =>
      kept.get(file) || passagesOf(file.text).map((text) => ({ file, text, vector: null })));
    this.find(".hint").hidden = this.passages.length > 0;
    this.indexing.abort();
    const { signal } = (this.indexing = new AbortController());
    try {
      for (;;) {
        const batch = this.passages.filter(({ vector }) => !vector).slice(0, EMBED_BATCH);
        if (!batch.length) break;
        this.say(`Reading: ${whole(this.ready.length)} of ${whole(this.passages.length)} passages`);
        const vectors = await this.embed(batch.map(({ text }) => text), "document", signal);
        batch.forEach((passage, i) => { passage.vector = vectors[i]; });
      }
      const { length } = this.passages;
      this.say(length ? `${whole(length)} passage${length === 1 ? "" : "s"} of ${whole(this.files.files.length)}`
        + ` file${this.files.files.length === 1 ? "" : "s"}` : "");
      if (this.input.value.trim()) await this.search();
    } catch (error) {
      this.report(error);
    }
  }

  get ready() { return this.passages.filter(({ vector }) => vector); }

  async search() {
    const query = this.input.value.trim();
    this.asking.abort();
    const { signal } = (this.asking = new AbortController());
    if (!query || !this.passages.length) return this.show([]);
    try {
      const [vector] = await this.embed([query], "query", signal);
      let found = this.ready.map((passage) => ({ ...passage, score: dotProduct(passage.vector, vector) }))
        .sort((a, b) => b.score - a.score);
      if (this.reranker.value) found = await this.rerank(query, found.slice(0, RERANKED), signal);
      found = found.slice(0, SHOWN_RESULTS);
      this.show(found);
      await this.mark(query, found, signal);
    } catch (error) {
      this.report(error);
    }
  }

  async rerank(query, found, signal) {
    const body = { model: this.reranker.value, query, documents: found.map(({ text }) => text) };
    const { results } = await this.server.json("v1/rerank", { body, signal });
    return results.map(({ index, relevance_score: score }) => ({ ...found[index], score }));
  }

  show(found) {
    this.results.replaceChildren(...found.map(({ file, text, score }) => {
      const head = make("p", "note", make("bdi", "", file.name), ` · ${score.toFixed(3)}`);
      return make("li", "card", head, make("p", "text", text));
    }));
  }

  // Marks the words that match, by the vectors of tokens.
  async mark(query, found, signal) {
    const texts = [query, ...found.map(({ text }) => text)];
    const { vectors, tokens } = await this.tokenVectors(texts, signal);
    const common = commonWords(this.passages);
    found.forEach(({ text }, i) => {
      const spans = tokenSpans(text, tokens[i + 1]);
      const asked = vectors[0].filter((_, k) => tokenSpans(query, tokens[0])[k]);
      const words = matchedWords(text, spans, vectors[i + 1], asked, common);
      const parts = [];
      let at = 0;
      for (const [begin, end] of words) {
        parts.push(text.slice(at, begin), make("mark", "", text.slice(begin, end)));
        at = end;
      }
      this.results.children[i].querySelector(".text").replaceChildren(...parts, text.slice(at));
    });
  }

  async tokenVectors(texts, signal) {
    const model = this.embedder;
    const ask = (path, body) => this.server.json(path, { body: { model, ...body }, signal });
    const [vectors, ...tokens] = await Promise.all([
      ask("embed_all", { inputs: texts, truncate: true }),
      ...texts.map((text) => ask("v1/tokenize", { text })),
    ]);
    return { vectors: vectors.map((list) => list.map(unitVector)), tokens: tokens.map((one) => one.texts) };
  }
}
