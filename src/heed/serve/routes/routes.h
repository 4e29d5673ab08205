#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/serve/services.h"

namespace heed::serve {

/// All routes.
std::span<const Route> all_routes();
/// The route of a method and a path; null if there is none. HEAD is answered as GET.
const Route* find_route(std::string_view method, std::string_view path);
/// The name in the path of a call, for routes that have one.
std::string name_in_path(const Call& call);
/// 404, or 405 with an Allow header if the path has other methods.
ApiError unknown_route(std::string_view method, std::string_view path);

/// The body of a request as JSON: what parse_body() reads, or the fields of a form
/// (application/x-www-form-urlencoded); without a body, those of the query. Throws ApiError on any
/// other Content-Type.
Json body_of(const HttpRequest& request);
/// X-Request-Timeout, in seconds. Throws ApiError unless it is a positive number.
std::optional<std::chrono::milliseconds> timeout_of(const HttpRequest& request);

// Each is defined in the file named after it.
void get_health(Services& services, Call& call);
void get_metrics(Services& services, Call& call);
void get_models(Services& services, Call& call);
void get_model(Services& services, Call& call);
void get_history(Services& services, Call& call);
void post_load(const ModelCall& call);
void post_unload(Services& services, Call& call);
void get_openapi(Services& services, Call& call);
void post_completions(const ModelCall& call);
void post_infill(const ModelCall& call);
void post_chat_completions(const ModelCall& call);
void post_responses(const ModelCall& call);
void post_anthropic_messages(const ModelCall& call);
void post_anthropic_count_tokens(const ModelCall& call);
std::string anthropic_error_body(const ApiError& error);
void post_ollama_chat(const ModelCall& call);
void post_ollama_generate(const ModelCall& call);
void post_ollama_embed(const ModelCall& call);
void post_ollama_embeddings(const ModelCall& call);
void post_ollama_show(const ModelCall& call);
void get_ollama_tags(Services& services, Call& call);
void get_ollama_ps(Services& services, Call& call);
void get_ollama_version(Services& services, Call& call);
void post_embeddings(const ModelCall& call);
void post_cohere_embed(const ModelCall& call);
void post_tei(const ModelCall& call);
void post_tei_embed(const ModelCall& call);
void post_tei_embed_sparse(const ModelCall& call);
void post_tei_embed_all(const ModelCall& call);
void post_tei_similarity(const ModelCall& call);
void post_tei_predict(const ModelCall& call);
void get_tei_info(const ModelCall& call);
void post_classify(const ModelCall& call);
void get_tokenizer_info(const ModelCall& call);
void post_translate(const ModelCall& call);
void post_rerank(const ModelCall& call);
void post_cohere_rerank(const ModelCall& call);
void post_score(const ModelCall& call);
void post_fill(const ModelCall& call);
void post_tokenize(const ModelCall& call);
void post_detokenize(const ModelCall& call);
void post_attention(const ModelCall& call);
void get_languages(Services& services, Call& call);
std::string choose_translator(const Services& services, const Json& body, std::string named);
std::string choose_translation(const Services& services, const Json& body, std::string named);
void post_libre_translate(const ModelCall& call);
std::string choose_file_translator(const Services& services, const Json& body, std::string named);
void post_libre_translate_file(const ModelCall& call);
void get_libre_download(Services& services, Call& call);
void post_libre_detect(Services& services, Call& call);
void get_libre_settings(Services& services, Call& call);

}  // namespace heed::serve
