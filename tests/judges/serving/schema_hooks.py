"""What depends on the models or on other fields, which a schema cannot say; schema.py has schemathesis import it.

A request that the schema allows is changed so that the models of schema.py can answer it: the model's name, its tokens,
layers, heads and languages, the length of its context, what one field allows another. Outputs are short, so that it is
fast. Of the requests that the schema forbids only the name of the model is changed.
"""
import schemathesis

TOKENS, WIDTH, LAYERS = 120, 32, 2
MODELS = {"embeddings": "encoder", "attention": "encoder", "fill": "masked", "rerank": "reranker", "translate": "nllb",
          "/rerank": "reranker", "/v2/rerank": "reranker", "/v2/embed": "encoder", "/embed": "encoder",
          "/classify": "classifier", "/predict": "classifier", "/infill": "coder", "/api/chat": "chat",
          "/api/generate": "chat", "/api/show": "chat", "/api/embed": "encoder", "/api/embeddings": "encoder",
          "/info": "chat", "/tokenizer_info": "chat", "/": "encoder", "/embed_all": "encoder", "/similarity": "encoder",
          "/embed_sparse": "masked"}
# Characters that fit into the context.
SHORT = {"/v1/rerank": 16, "/rerank": 16, "/classify": 16, "/predict": 8, "/v1/translate": 16, "/translate": 16}
LONG = 100
OUTPUT = 16
TERM = "a"  # which the translator can spell


# Constraints that the models can write; a request has one of them.
SCHEMA = {"enum": [None, True]}
CONSTRAINTS = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
               "structured_outputs": {"json": SCHEMA, "disable_any_whitespace": True}, "guided_json": SCHEMA,
               "guided_regex": "the|sea", "guided_choice": ["the", "sea"], "guided_grammar": 'root ::= "the" | "sea"',
               "grammar": 'start: "the" | "sea"', "json_schema": SCHEMA,
               "text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}}


def shortened(value, limit):
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, list):
        return [shortened(one, limit) for one in value]
    return {name: shortened(one, limit) for name, one in value.items()} if isinstance(value, dict) else value


def known_tokens(value, count=TOKENS):
    if isinstance(value, list):
        return [known_tokens(one, count) for one in value]
    return value % count if isinstance(value, (int, float)) else value


def fit_constraint(body):
    given = [name for name in CONSTRAINTS if body.get(name) is not None and (name != "text" or "input" in body)]
    for name in given:
        del body[name]
    if given and not body.get("tools"):
        body[given[0]] = CONSTRAINTS[given[0]]
        body.pop("stop_token_ids", None)  # the constraint may need these
    if body.get("guided_whitespace_pattern") is not None:
        body["guided_whitespace_pattern"] = "[ \\t\\n\\r]*"


def fit_generation(body):
    fit_constraint(body)
    body.setdefault("max_tokens", OUTPUT)
    for name in ("max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "n_predict"):
        if name in body:
            body[name] = min(body[name] or OUTPUT, OUTPUT)
    body.pop("suffix", None)  # the model has no tokens for it
    body.pop("tool_choice", None)  # its vocabulary cannot spell a call
    if body.get("min_tokens"):  # no more than the largest number allows, and a constraint may end before
        body["min_tokens"] = 0 if any(body.get(name) is not None for name in CONSTRAINTS) else 1
    if "prompt" in body:
        body["prompt"] = known_tokens(body["prompt"])
    if body.get("logit_bias"):
        body["logit_bias"] = {str(i): bias for i, bias in enumerate(list(body["logit_bias"].values())[:TOKENS])}
    if body.get("stop_token_ids"):
        body["stop_token_ids"] = known_tokens(body["stop_token_ids"])
    if body.get("best_of") is not None:
        body["best_of"] = body["n"] if body.get("n") is not None else 1
    if body.get("top_p") is not None:
        body["top_p"] = max(body["top_p"], 1e-30)  # single precision
    if body.get("top_logprobs") is not None:
        body["logprobs"] = True
    for message in body.get("messages", []):
        for call in message.get("tool_calls") or []:
            if isinstance(call["function"].get("arguments"), str):
                call["function"]["arguments"] = "{}"


def fit_anthropic_prompt(body):
    body.pop("tool_choice", None)
    if isinstance(body.get("system"), list):
        body["system"] = [{"type": "text", "text": "a"}]
    for message in body.get("messages", []):
        if isinstance(message.get("content"), list):  # the schema leaves the members of blocks open
            message["content"] = [{"type": "text", "text": "a"} for _ in message["content"]]
    body["messages"].append({"role": "user", "content": "a"})  # which comes last
    form = {"type": "json_schema", "schema": SCHEMA}
    if body.get("output_format"):
        body["output_format"] = form
    if (body.get("output_config") or {}).get("format"):
        body["output_config"]["format"] = form


def fit_messages(body):
    fit_generation(body)
    fit_anthropic_prompt(body)
    if body.get("min_tokens"):
        body["min_tokens"] = 0  # the form may end before


def fit_ollama(body):
    body.pop("name", None)  # another name of "model"
    if body.get("format"):
        body["format"] = SCHEMA
    elif body.get("format") is False:
        del body["format"]  # nothing satisfies it
    body.pop("tools", None)  # their form, and that of calls, is another API's
    for message in body.get("messages") or []:
        message.pop("tool_calls", None)
    if body.get("raw"):
        body.pop("system", None)  # which a template would write
    fit_dimensions(body)


def fit_detect(body):
    if isinstance(body.get("q"), str):
        body["q"] = "the sea " + body["q"]


def fit_responses(body):
    fit_generation(body)
    if not isinstance(body.get("input"), list):
        return
    items = []
    for item in body["input"]:
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            items.append({"type": "function_call", "call_id": item["call_id"], "name": "f", "arguments": "{}"})
        if isinstance(item, dict) and item.get("type") == "function_call":
            item["arguments"] = "{}"
        for name in ("content", "output"):
            if isinstance(item, dict) and isinstance(item.get(name), list):
                kind = "reasoning_text" if item.get("type") == "reasoning" else "text"
                item[name] = [{"type": kind, "text": part.get("text") or ""} for part in item[name]]
        items.append(item)
    items.append({"role": "user", "content": "a"})  # reasoning alone is no message
    body["input"] = items


def fit_infill(body):
    fit_generation(body)
    body.pop("prompt", None)
    body.pop("input_extra", None)  # the tokenizer has no token for files


def fit_detokenize(body):
    body["tokens"] = known_tokens(body["tokens"])


def fit_dimensions(body):
    for name in ("dimensions", "output_dimension"):
        if body.get(name) is not None:
            body[name] = body[name] % WIDTH + 1


def fit_ranges(body):
    """The server has ranges of all dimensions only."""
    types = [body.get(name) for name in ("encoding_format", "output_dtype", "embedding_type")]
    several = body.get("embedding_types") or []
    types += [several] if isinstance(several, str) else several
    if "int8" in types or "uint8" in types:
        for name in ("dimensions", "output_dimension"):
            body.pop(name, None)


def fit_cohere_embed(body):
    fit_dimensions(body)
    fit_ranges(body)


def fit_embeddings(body):
    body["input"] = known_tokens(body["input"], 12)
    fit_dimensions(body)
    if body.get("output_dimension") is not None:
        body.pop("dimensions", None)
    fit_ranges(body)


def fit_tei_embed(body):
    body["inputs"] = known_tokens(body["inputs"], 12)
    fit_dimensions(body)
    body.pop("prompt_name", None)  # the model has no prompts


def fit_similarity(body):
    (body.get("parameters") or {}).pop("prompt_name", None)


def fit_attention(body):
    for name in ("layer", "head"):
        if body.get(name) is not None:
            body[name] %= LAYERS
    if body.get("kind"):
        body["kind"] = "encoder_self"
    for name in ("target", "source_language", "target_language"):
        body.pop(name, None)


def fit_fill(body):
    body["text"] = "the [MASK] " + body["text"]


def fit_score(body):
    body["text"] = "the sea " + body.get("text", "")
    for name in ("source", "target"):
        body.pop(name, None)


def fit_translate(body):
    body |= {"source_language": "eng_Latn", "target_language": "fra_Latn"}
    for name in ("via", "confidence"):  # of a second model, and of a calibrated one
        body.pop(name, None)
    if not body.get("document"):
        for name in ("format", "sentence_language", "max_sentence_tokens", "translate_placeholders", "keep_numbers"):
            body.pop(name, None)  # of documents
    elif body.get("format") is not None:
        body["format"] = "html"
    if body.get("max_sentence_tokens"):
        body["max_sentence_tokens"] = 20
    if body.get("do_not_translate"):
        body["do_not_translate"] = TERM
    if body.get("glossary"):  # each term once
        body["glossary"] = [{"source": "b", "target": TERM}]
    if body.get("do_not_translate") or body.get("glossary"):
        body["num_beams"] = max(body.get("num_beams") or 4, 2)
    if body.get("n_best") is not None:
        body["num_beams"] = max(body.get("num_beams") or 4, body["n_best"])


def fit_libre_translate(body):
    body |= {"source": "en", "target": "fr"}
    if body.get("model"):
        body["model"] = "nllb"


FITS = {"/v1/completions": fit_generation, "/v1/chat/completions": fit_generation, "/v1/responses": fit_responses,
        "/v1/messages": fit_messages, "/v1/messages/count_tokens": fit_anthropic_prompt, "/v2/embed": fit_cohere_embed,
        "/": fit_tei_embed, "/embed": fit_tei_embed, "/embed_sparse": fit_tei_embed, "/embed_all": fit_tei_embed,
        "/similarity": fit_similarity, "/infill": fit_infill, "/v1/detokenize": fit_detokenize,
        "/v1/embeddings": fit_embeddings, "/v1/attention": fit_attention, "/api/chat": fit_ollama,
        "/detect": fit_detect, "/api/generate": fit_ollama, "/api/embed": fit_ollama,
        "/api/embeddings": fit_ollama, "/api/show": fit_ollama,
        "/v1/fill": fit_fill, "/v1/score": fit_score, "/v1/translate": fit_translate, "/translate": fit_libre_translate}


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method == "GET" and case.path in MODELS and isinstance(case.query, dict):
        case.query["model"] = MODELS[case.path]
    if not isinstance(case.body, dict):
        return
    positive = case.meta is None or case.meta.generation.mode.is_positive
    known = case.path in MODELS or case.path.startswith("/v1/")
    if known and (positive or isinstance(case.body.get("model"), str)):
        case.body["model"] = MODELS.get(case.path, MODELS.get(case.path.removeprefix("/v1/"), "chat"))
    if positive:
        case.body = shortened(case.body, SHORT.get(case.path, LONG))
        FITS.get(case.path, dict)(case.body)
