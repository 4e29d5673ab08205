#include "heed/convert.h"

#include <algorithm>
#include <functional>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/quote.h"
#include "heed/chat/template_files.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/copied_files.h"
#include "heed/checkpoint/gguf/adapter.h"
#include "heed/checkpoint/gguf/end_tokens.h"
#include "heed/checkpoint/gguf/save.h"
#include "heed/checkpoint/marian/marian_model.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/engine/new_files.h"
#include "heed/engine/system_errors.h"
#include "heed/generate/generation_config.h"
#include "heed/generate/gguf_settings.h"
#include "heed/load_options.h"
#include "heed/model/gguf/write.h"
#include "heed/tasks/embedder.h"
#include "heed/tasks/modules/stanford_colbert.h"
#include "heed/tasks/text_settings.h"
#include "heed/text/gguf/tokenizer.h"
#include "heed/text/gguf/tokenizer_write.h"
#include "heed/text/translation_tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

bool names_gguf(const fs::path& path) { return path.extension() == ".gguf"; }

/// The types that a target can have, the default first.
std::vector<std::string_view> model_types(bool gguf) {
  if (!gguf) return {"f32", "f16", "bf16"};
  std::vector<std::string_view> types{"f16"};
  for (const WeightType type : kWeightTypes) types.push_back(name_of(type));
  return types;
}

/// The type that a name says.
DType type_named(const std::string& name, const std::vector<std::string_view>& types,
                 std::string_view target) {
  require(name.empty() || std::ranges::count(types, name), "weights is {}, expected {} for {}",
          quoted(name), fmt::join(types, ", "), target);
  return *dtype_named(name.empty() ? types.front() : name);
}

std::unique_ptr<model::Transformer> load_merged(const io::ModelFiles& files,
                                                const ConvertOptions& options,
                                                std::vector<std::string>& warnings) {
  // Adapters are added in f32.
  const auto precision = options.adapters.empty() ? std::nullopt : std::optional(DType::f32);
  const auto native = io::MarianFiles::find(files.path());
  auto model = native ? checkpoint::load_marian_for_transformers(*native)
                      : checkpoint::load_model(files, {.precision = {precision}});
  if (native)
    warnings.push_back(
        "positions get the frequencies that transformers has, which differ a little from Marian's: "
        "translations may differ");
  const auto warn = [&](const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  warn(model->config().warnings);
  for (const auto& [path, name, scale] : options.adapters) {
    const auto adapter = checkpoint::load_adapter(resolve_adapter(path, options.hub), *model);
    warn(adapter.warnings);
    checkpoint::replace_weights(*model, adapter);
    checkpoint::merge_adapter(*model, adapter.lora->updates(), scale);
  }
  return model;
}

/// The files beside a model's weights: the tokenizer and settings.
std::vector<checkpoint::NamedFile> files_beside(const io::ModelFiles& files) {
  if (files.is_gguf())
    return text::read_gguf_tokenizer(files.gguf()->metadata(), files.path().string()).files();
  if (io::MarianFiles::find(files.path()))
    return text::TranslationTokenizer::load(files.path()).files();
  std::vector<checkpoint::NamedFile> beside;
  for (const fs::path& file : checkpoint::copied_files(files.path()))
    beside.emplace_back(file.string(), read_file(files.path() / file));
  return beside;
}

/// Makes a directory, which is at its place when it is complete.
void write_directory(const fs::path& target, const std::function<void(const fs::path&)>& fill) {
  fs::path unfinished = target.lexically_normal();
  if (!unfinished.has_filename()) unfinished = unfinished.parent_path();
  const fs::path complete = unfinished;
  unfinished += ".tmp";
  remove_tree(unfinished);
  try {
    fill(unfinished);
    replace_directory(unfinished, complete);
  } catch (...) {
    std::error_code ignored;  // the error to report is that of writing
    fs::remove_all(unfinished, ignored);
    throw;
  }
}

void fill_model_directory(const fs::path& directory, const io::ModelFiles& files,
                          const model::Transformer& model, DType dtype) {
  checkpoint::save_model(directory, model, {}, dtype);
  // The settings of the model replace those that save_model() derives from its configuration.
  for (const auto& [name, contents] : files_beside(files)) {
    make_directory((directory / name).parent_path());
    write_file_atomically(directory / name, contents);
  }
}

/// What goes into a GGUF file beside the weights of a directory.
class GgufSettings {
 public:
  GgufSettings(const io::ModelFiles& files, const model::Transformer& model)
      : files_(files),
        config_(model.config()),
        architecture_(model::gguf_architecture(config_)),
        settings_(config_.decoder_layers > 0 ? generate::read_generation_config(files, config_)
                                             : generate::GenerationConfig()),
        tokenizer_(text::Tokenizer::load(files.path())),
        written_(text::gguf_tokenizer(tokenizer_, config_.vocab_size)),
        values_(written_.metadata),
        warnings_(written_.warnings) {
    values_["general.name"] = files.path().filename().string();
    add_end_tokens();
    add_chat_template();
    if (config_.decoder_layers > 0)
      add_sampling();
    else
      add_pooling();
  }

  const io::GgufValues& values() const { return values_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Throws Error unless the file says the same to those who read it.
  void check(const io::GgufFile& file) {
    std::string warning =
        text::check_gguf_tokenizer(file.metadata(), file.name(), tokenizer_, written_);
    if (!warning.empty()) warnings_.push_back(std::move(warning));
    if (config_.decoder_layers == 0) return;
    const std::vector<int64_t> found = checkpoint::gguf_end_tokens(file.metadata());
    const std::set<int64_t> wanted = end_tokens();
    for (const int64_t id : wanted)
      require(std::ranges::find(found, id) != found.end(),
              "texts end at {}, which a GGUF file cannot say beside the others", piece_of(id));
    for (const int64_t id : found)
      if (!wanted.contains(id))
        warnings_.push_back(fmt::format("texts also end at {} in the GGUF file", piece_of(id)));
  }

 private:
  std::string piece_of(int64_t id) const {
    return quoted(tokenizer_.piece(static_cast<int32_t>(id)));
  }

  std::set<int64_t> end_tokens() const {
    std::set<int64_t> ids(settings_.rules.eos_ids.begin(), settings_.rules.eos_ids.end());
    std::erase_if(ids, [&](int64_t id) { return id >= tokenizer_.vocab_size(); });
    return ids;
  }

  /// Readers know most end tokens by their text; the others need a role.
  void add_end_tokens() {
    if (config_.decoder_layers == 0) return;
    std::vector<uint32_t> others;
    const auto eos = values_.find("tokenizer.ggml.eos_token_id");
    for (const int64_t id : end_tokens()) {
      const auto number = static_cast<uint32_t>(id);
      if (eos != values_.end() && std::get<uint32_t>(eos->second) == number) continue;
      if (!checkpoint::is_gguf_end_text(tokenizer_.piece(static_cast<int32_t>(id))))
        others.push_back(number);
    }
    for (const char* role : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      if (others.empty() || values_.contains(role)) continue;
      values_[role] = others.front();
      others.erase(others.begin());
    }
  }

  void add_chat_template() {
    for (const chat::StoredTemplate& stored : chat::read_chat_templates(files_.path())) {
      const bool main = stored.name == "default";
      values_[main ? "tokenizer.chat_template" : "tokenizer.chat_template." + stored.name] =
          stored.source;
    }
  }

  void add_sampling() {
    generate::write_gguf_settings(settings_, values_);
    const generate::TokenRules& rules = settings_.rules;
    const std::pair<const char*, bool> others[] = {
        {"repetition_penalty", rules.repetition_penalty != 1},
        {"sequence_bias", !rules.sequence_bias.empty()},
        {"bad_words_ids", !rules.bad_words.empty()},
        {"no_repeat_ngram_size", rules.no_repeat_ngram_size > 0},
        {"min_length", rules.min_length > 0},
        {"min_new_tokens", rules.min_new_tokens > 0},
        {"max_length", settings_.max_length.has_value()},
        {"max_new_tokens", settings_.max_new_tokens.has_value()},
        {"forced_bos_token_id", rules.forced_bos_id >= 0},
        {"forced_eos_token_id", !rules.forced_eos_ids.empty()},
        {"begin_suppress_tokens", !rules.begin_suppress_tokens.empty()},
        {"exponential_decay_length_penalty", rules.length_decay.has_value()}};
    for (const auto& [name, set_there] : others)
      if (set_there)
        warnings_.push_back(
            fmt::format("generation_config.json: {} is left out: GGUF files have none", name));
  }

  void add_pooling() {
    if (config_.classifier.present()) return;
    require(!tasks::is_stanford_colbert(files_.path()),
            "{}: the model makes a vector for each token, which GGUF files cannot say",
            files_.path().string());
    if (!path_exists(files_.path() / tasks::kModulesFile)) return;
    const auto options = tasks::read_embedder_options(files_);
    const bool single = options.pooling.size() == 1;
    const auto type = single ? tasks::gguf_pooling_type(options.pooling[0]) : std::nullopt;
    require(type.has_value(),
            "the pooling is {}, which GGUF files cannot say: expected mean, cls or last",
            single ? name_of(options.pooling[0]) : "of several kinds");
    require(options.of_tokens.empty() &&
                std::ranges::all_of(options.of_texts,
                                    [](const auto& one) { return one->normalizes(); }),
            "{}: there are modules with weights (Dense or LayerNorm), which heed does not write "
            "into GGUF files",
            (files_.path() / tasks::kModulesFile).string());
    values_[architecture_ + ".pooling_type"] = *type;
    const std::pair<const char*, bool> others[] = {{"the prompt", !options.prompt.empty()},
                                                   {"truncate_dim", options.truncate_dim > 0},
                                                   {"do_lower_case", options.lower_case}};
    for (const auto& [name, set_there] : others)
      if (set_there)
        warnings_.push_back(fmt::format("{} of sentence-transformers is left out", name));
  }

  const io::ModelFiles& files_;
  const model::ModelConfig& config_;
  std::string architecture_;
  generate::GenerationConfig settings_;
  text::Tokenizer tokenizer_;
  text::GgufTokenizer written_;
  io::GgufValues values_;
  std::vector<std::string> warnings_;
};

std::vector<std::string> write_gguf_file(const io::ModelFiles& files,
                                         const model::Transformer& model, const fs::path& target,
                                         DType dtype) {
  if (files.is_gguf())
    return checkpoint::save_gguf(target, model, {.dtype = dtype, .original = files.gguf()});
  GgufSettings settings(files, model);
  const auto left_out = checkpoint::save_gguf(
      target, model,
      {.dtype = dtype, .metadata = settings.values(), .check = [&](const auto& file) {
         settings.check(file);
       }});
  std::vector<std::string> warnings = settings.warnings();
  warnings.insert(warnings.end(), left_out.begin(), left_out.end());
  return warnings;
}

std::vector<std::string> convert_found(const io::ModelFiles& files, const fs::path& target,
                                       const ConvertOptions& options) {
  const bool gguf = names_gguf(target);
  const DType dtype =
      type_named(options.weights, model_types(gguf), gguf ? "a GGUF file" : "a model directory");
  engine::require_new("the converted model", target, !gguf);
  require(files.is_gguf() || path_exists(files.path() / "config.json") ||
              !path_exists(files.path() / "adapter_config.json"),
          "{} is an adapter, expected a model: an adapter alone is converted with its base model",
          files.path().string());
  std::vector<std::string> warnings;
  const auto model = load_merged(files, options, warnings);
  if (gguf) {
    const auto more = write_gguf_file(files, *model, target, dtype);
    warnings.insert(warnings.end(), more.begin(), more.end());
  } else {
    write_directory(target, [&](const fs::path& directory) {
      fill_model_directory(directory, files, *model, dtype);
    });
  }
  return warnings;
}

/// Converts an adapter alone, whose base model gives the names of the weights.
std::vector<std::string> convert_adapter(const fs::path& source, const fs::path& target,
                                         const ConvertOptions& options) {
  require(
      options.adapters.empty(),
      "there are adapters to be added to a model, but with a base model {} is an adapter itself",
      source.string());
  const bool gguf = names_gguf(target);
  std::vector<std::string_view> types{"f32"};
  if (gguf) types.insert(types.end(), {"f16", "bf16", "q8_0"});
  const DType dtype = type_named(
      options.weights, types, gguf ? "an adapter in a GGUF file" : "the directory of an adapter");
  engine::require_new("the converted adapter", target, !gguf);
  HubOptions settings_only = options.hub;
  settings_only.weights = false;
  const auto model = checkpoint::build_model(resolve_model(options.base, settings_only));
  const fs::path found = resolve_adapter(source, options.hub);
  const auto adapter = checkpoint::load_adapter(found, *model);
  if (gguf)
    checkpoint::save_gguf_adapter(target, *model, adapter, dtype, found.stem().string());
  else
    write_directory(target, [&](const fs::path& directory) {
      checkpoint::save_adapter(directory, *model, *adapter.lora, adapter.config);
    });
  return adapter.warnings;
}

}  // namespace

std::vector<std::string> convert_model(const fs::path& source, const fs::path& target,
                                       const ConvertOptions& options) {
  return engine::with_system_errors([&] {
    const auto executor = options.executor ? options.executor : Executor::shared();
    const ExecutorScope scope(*executor);
    if (!options.base.empty()) return convert_adapter(source, target, options);
    return convert_found(io::ModelFiles(resolve_model(source, options.hub)), target, options);
  });
}

}  // namespace heed
