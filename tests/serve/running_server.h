#pragma once

#include <filesystem>
#include <string>

#include "heed/base/file.h"
#include "heed/server.h"
#include "tests/engine/small_models.h"
#include "tests/serve/http_client.h"

namespace heed::serve {

/// A server in this process with a tiny model of each kind, and what clients ask it.
class RunningServer {
 public:
  explicit RunningServer(UnknownFields unknown_fields = UnknownFields::ignore) {
    options_.unknown_fields = unknown_fields;
    engine::write_decoder(chat_.path());
    write_quickly(chat_ / "chat_template.jinja",
                  "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '</s>' }}{% endfor %}"
                  "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}");
    write_quickly(chat_ / "generation_config.json", R"({"do_sample": false})");
    const engine::SmallModels& small = engine::models();
    add("chat", chat_.path());
    write_byte_level_decoder(bytes_);
    std::filesystem::copy_file(chat_ / "chat_template.jinja", bytes_ / "chat_template.jinja");
    add("bytes", bytes_.path());
    write_byte_level_decoder(coder_, {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"});
    add("coder", coder_.path());
    // Reasons without end, if it is asked to.
    write_byte_level_decoder(thinker_);
    write_quickly(thinker_ / "chat_template.jinja",
                  "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '\n' }}{% endfor %}"
                  "{{ '<think>' if enable_thinking else '<think></think>' }}");
    add("thinker", thinker_.path());
    add("lm", small.decoder());
    add("t5", small.t5());
    add("masked", small.masked());
    add("encoder", small.encoder());
    add("en-de", small.translator());
    options_.models.back().source_language = "en";
    options_.models.back().target_language = "de";
    add("nllb", golden("translation/nllb"));
    add("reranker", golden("encoders/rerank"));
    add("classifier", golden("encoders/classify"));
    server_.emplace(options_);
    server_->listen();
    server_->load();
  }

  /// The server of all tests of a program.
  static const RunningServer& shared() {
    static const RunningServer server;
    return server;
  }

  uint16_t port() const { return server_->port(); }
  static std::filesystem::path golden(const std::string& name) {
    return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden" / name;
  }
  /// The files of a model, to be loaded beside the server.
  std::string path_of(const std::string& name) const {
    for (const ModelSource& model : options_.models)
      if (model.name == name) return model.path;
    throw std::out_of_range(name);
  }
  Model model(const std::string& name) const { return Model::load(path_of(name)); }

 private:
  void add(const std::string& name, const std::filesystem::path& path) {
    options_.models.push_back({.name = name, .path = path.string()});
  }

  /// Its tokens may be parts of characters; it has these special tokens, at most four, too.
  static void write_byte_level_decoder(const TemporaryDirectory& directory,
                                       const std::vector<std::string>& special_tokens = {}) {
    Json tokenizer = Json::parse(read_file(golden("tokenizers/gpt2.json")));
    for (const std::string& token : special_tokens) {
      Json added = tokenizer["added_tokens"][0];
      added["id"] = 899 + tokenizer["added_tokens"].size();
      added["content"] = token;
      tokenizer["added_tokens"].push_back(std::move(added));
    }
    write_quickly(directory / "tokenizer.json", tokenizer.dump());
    write_quickly(directory / "generation_config.json", R"({"do_sample": false})");
    write_quickly(directory / "config.json", R"({
      "model_type": "llama", "vocab_size": 904, "hidden_size": 32, "intermediate_size": 64,
      "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 1024,
      "rms_norm_eps": 1e-5, "hidden_act": "silu", "eos_token_id": 0})");
    engine::write_weights(directory.path());
  }

  TemporaryDirectory chat_, bytes_, coder_, thinker_;
  ServerOptions options_{.port = 0};
  std::optional<Server> server_;
};

/// Copies the files of a model, to be changed.
inline void copy_model(const std::filesystem::path& from, const TemporaryDirectory& to) {
  std::filesystem::copy(
      from, to.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

/// Answers of the shared server, each on a connection of its own.
inline Answer get(const std::string& path) {
  return HttpClient(RunningServer::shared().port()).request("GET", path);
}
inline Answer post(const std::string& path, const std::string& body,
                   const HttpClient::Headers& headers = {}) {
  return HttpClient(RunningServer::shared().port()).request("POST", path, body, headers);
}
inline Answer post(const std::string& path, const Json& body) { return post(path, body.dump()); }

/// The answer, which must be 200.
inline Json posted(const std::string& path, const Json& body) {
  const Answer answer = post(path, body);
  EXPECT_EQ(answer.status, 200) << path << ' ' << body << ": " << answer.body;
  return Json::parse(answer.body, nullptr, false);
}

/// The answer must be 400 and name the field.
inline Json refused(const std::string& path, const Json& body, const std::string& param) {
  const Answer answer = post(path, body);
  EXPECT_EQ(answer.status, 400) << path << ' ' << body << ": " << answer.body;
  const Json json = Json::parse(answer.body, nullptr, false);
  if (!json.contains("error")) return Json::object();
  EXPECT_EQ(json["error"]["param"], Json(param)) << answer.body;
  EXPECT_EQ(json["error"]["type"], "invalid_request_error");
  return json["error"];
}

/// The request with each of the `wrong` values, one at a time, must be 400 that names its field.
inline void refused_each(const std::string& path, const Json& request, const Json& wrong) {
  for (const auto& [name, value] : wrong.items()) {
    Json changed = request;
    changed[name] = value;
    refused(path, changed, name);
  }
}

}  // namespace heed::serve
