#include "heed/serve/routes/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/serve/api_error.h"
#include "heed/serve/http/multipart.h"
#include "heed/serve/http/target.h"
#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/web_page.h"

namespace heed::serve {
namespace {

void respond_with_page(Services& /*services*/, Call& call) { call.respond(web_page()); }

/// A route whose errors have a form of their own (null: OpenAI's), or that chooses a model.
constexpr Route in_form(ErrorBody error_body, const char* path, ModelHandler handler,
                        ModelChooser choose = nullptr) {
  return {.method = "POST",
          .path = path,
          .with_model = handler,
          .choose = choose,
          .error_body = error_body};
}

constexpr Route ollama(const char* path, ModelHandler handler) {
  return in_form(plain_error_body, path, handler, choose_ollama_model);
}

constexpr Route libre(const char* path, ModelHandler handler, ModelChooser choose) {
  Route route = in_form(plain_error_body, path, handler, choose);
  route.key_in_body = true;
  return route;
}

/// A route that needs no key.
constexpr Route open(const char* path, DirectHandler handler, ErrorBody error_body = nullptr) {
  return {.method = "GET",
          .path = path,
          .without_model = handler,
          .needs_no_key = true,
          .error_body = error_body};
}

constexpr std::array kRoutes{
    open("/", respond_with_page),
    open("/health", get_health),
    open("/openapi.json", get_openapi),
    Route{.method = "GET", .path = "/metrics", .without_model = get_metrics},
    Route{.method = "GET", .path = "/v1/models", .without_model = get_models},
    Route{.method = "GET", .path = "/v1/models/{model}", .without_model = get_model},
    Route{.method = "GET", .path = "/v1/history", .without_model = get_history},
    Route{.method = "POST", .path = "/models/load", .with_model = post_load, .manages = true},
    Route{
        .method = "POST", .path = "/models/unload", .without_model = post_unload, .manages = true},
    Route{.method = "POST", .path = "/v1/completions", .with_model = post_completions},
    Route{.method = "POST", .path = "/infill", .with_model = post_infill},
    Route{.method = "POST", .path = "/v1/chat/completions", .with_model = post_chat_completions},
    Route{.method = "POST", .path = "/v1/responses", .with_model = post_responses},
    Route{.method = "POST",
          .path = "/v1/messages",
          .with_model = post_anthropic_messages,
          .error_body = anthropic_error_body,
          .error_event = "error"},
    in_form(anthropic_error_body, "/v1/messages/count_tokens", post_anthropic_count_tokens),
    Route{.method = "POST", .path = "/v1/embeddings", .with_model = post_embeddings},
    in_form(cohere_error_body, "/v2/embed", post_cohere_embed),
    in_form(tei_error_body, "/", post_tei, choose_tei_model),
    in_form(tei_error_body, "/embed", post_tei_embed, choose_embedder),
    in_form(tei_error_body, "/embed_sparse", post_tei_embed_sparse, choose_sparse_embedder),
    in_form(tei_error_body, "/embed_all", post_tei_embed_all, choose_token_embedder),
    in_form(tei_error_body, "/similarity", post_tei_similarity, choose_embedder),
    in_form(tei_error_body, "/predict", post_tei_predict, choose_classifier),
    Route{
        .method = "GET", .path = "/info", .with_model = get_tei_info, .error_body = tei_error_body},
    Route{.method = "GET", .path = "/tokenizer_info", .with_model = get_tokenizer_info},
    Route{.method = "POST", .path = "/classify", .with_model = post_classify},
    in_form(nullptr, "/v1/translate", post_translate, choose_translation),
    Route{.method = "POST", .path = "/v1/rerank", .with_model = post_rerank},
    Route{
        .method = "POST", .path = "/rerank", .with_model = post_rerank, .choose = choose_reranker},
    in_form(cohere_error_body, "/v2/rerank", post_cohere_rerank),
    Route{.method = "POST", .path = "/v1/score", .with_model = post_score},
    Route{.method = "POST", .path = "/v1/fill", .with_model = post_fill},
    Route{.method = "POST", .path = "/v1/tokenize", .with_model = post_tokenize},
    Route{.method = "POST", .path = "/v1/detokenize", .with_model = post_detokenize},
    Route{.method = "POST", .path = "/v1/attention", .with_model = post_attention},
    ollama("/api/chat", post_ollama_chat),
    ollama("/api/generate", post_ollama_generate),
    ollama("/api/embed", post_ollama_embed),
    ollama("/api/embeddings", post_ollama_embeddings),
    ollama("/api/show", post_ollama_show),
    Route{.method = "GET", .path = "/api/tags", .without_model = get_ollama_tags},
    Route{.method = "GET", .path = "/api/ps", .without_model = get_ollama_ps},
    Route{.method = "GET", .path = "/api/version", .without_model = get_ollama_version},
    open("/languages", get_languages),
    libre("/translate", post_libre_translate, choose_translator),
    libre("/translate_file", post_libre_translate_file, choose_file_translator),
    open("/download_file/{name}", get_libre_download, plain_error_body),
    Route{.method = "POST",
          .path = "/detect",
          .without_model = post_libre_detect,
          .error_body = plain_error_body},
    open("/frontend/settings", get_libre_settings),
};

/// Adds a field of a form; one that occurs several times has a list.
void add_form_field(Json& fields, const std::string& name, Json value) {
  Json& field = fields[name];
  if (field.is_null())
    field = std::move(value);
  else if (field.is_array())
    field.push_back(std::move(value));
  else
    field = Json::array({std::move(field), std::move(value)});
}

Json form_fields(std::string_view body) {
  Json fields = Json::object();
  if (static_cast<size_t>(std::ranges::count(body, '&')) >= kMaxFormFields)
    throw invalid_request("", fmt::format("a form has over {} fields", kMaxFormFields));
  while (!body.empty()) {
    const size_t end = std::min(body.find('&'), body.size());
    const std::string_view field = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    const size_t equals = std::min(field.find('='), field.size());
    const auto name = percent_decoded(field.substr(0, equals), true);
    const auto value = percent_decoded(field.substr(std::min(equals + 1, field.size())), true);
    if (!name || !value) throw invalid_request("", "a form has an invalid escape");
    require_utf8(*value, one_line(*name));  // as JSON's parser does
    add_form_field(fields, *name, *value);
  }
  return fields;
}

/// The fields of a multipart form: texts, and files as {"filename", "content"}.
Json multipart_fields(const HttpRequest& request) {
  Json fields = Json::object();
  for (const FormPart& part : multipart_form(request.header("content-type"), request.body)) {
    require_utf8(part.name, "the name of a part of the form");
    const std::string name = one_line(part.name);
    Json value = part.content;
    if (part.filename) {
      require_utf8(*part.filename, name);
      value = {{"filename", *part.filename},
               {"content",
                Json::binary(std::vector<uint8_t>(part.content.begin(), part.content.end()))}};
    } else {
      require_utf8(part.content, name);
    }
    add_form_field(fields, part.name, std::move(value));
  }
  return fields;
}

/// The part of a path in place of {model} of a route; nothing if it is not a path of the route.
std::optional<std::string_view> name_in_path(const Route& route, std::string_view path) {
  const std::string_view pattern = route.path;
  const std::string_view prefix = pattern.substr(0, pattern.find('{'));
  if (prefix == pattern || !path.starts_with(prefix) || path == prefix) return std::nullopt;
  return path.substr(prefix.size());
}

bool is_path_of(const Route& route, std::string_view path) {
  return path == route.path || name_in_path(route, path).has_value();
}

/// As an Allow header has them; empty if there is no such path.
std::string methods_of(std::string_view path) {
  std::string methods;
  for (const Route& route : kRoutes)
    if (is_path_of(route, path))
      methods += fmt::format("{}{}", methods.empty() ? "" : ", ",
                             route.method == std::string_view("GET") ? "GET, HEAD" : route.method);
  return methods;
}

}  // namespace

std::span<const Route> all_routes() { return kRoutes; }

std::string name_in_path(const Call& call) {
  for (const Route& route : kRoutes)
    if (call.route() == route.path)
      if (const auto name = name_in_path(route, call.request().path)) return std::string(*name);
  return {};
}

const Route* find_route(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  for (const Route& route : kRoutes)
    if (method == route.method && is_path_of(route, path)) return &route;
  return nullptr;
}

ApiError unknown_route(std::string_view method, std::string_view path) {
  const std::string methods = methods_of(path);
  if (methods.empty())
    return {404, "invalid_request_error", fmt::format("there is no {}", quoted(path))};
  ApiError error(
      405, "invalid_request_error",
      fmt::format("{} does not answer {}, only {}", quoted(path), one_line(method), methods));
  error.headers = {{"Allow", methods}};
  return error;
}

Json body_of(const HttpRequest& request) {
  if (request.method != "POST") return form_fields(request.query);
  if (const std::string_view encoding = request.header("content-encoding");
      !encoding.empty() && encoding != "identity")
    throw ApiError(415, "invalid_request_error", "bodies must not be compressed");
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  if (type == "application/x-www-form-urlencoded" && !request.body.starts_with('{'))
    return form_fields(request.body);
  if (type == "multipart/form-data") return multipart_fields(request);
  return parse_body(request.body);
}

std::optional<std::chrono::milliseconds> timeout_of(const HttpRequest& request) {
  const std::string_view text = request.header("x-request-timeout");
  if (text.empty()) return std::nullopt;
  const double seconds = parse_number<double>(text).value_or(0);
  if (!(seconds > 0 && seconds < 1e6))
    throw invalid_request(
        "", fmt::format("X-Request-Timeout is {}, expected a number of seconds", quoted(text)));
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace heed::serve
