#include "heed/model/gguf/metadata.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"

namespace heed::model {
namespace {

/// Keys that cannot change what the model computes: sizes that the tensors have, other parts of the
/// program that read them, and what the file was made with.
constexpr std::string_view kMetadataWithoutEffect[] = {"attention.head_count_kv",
                                                       "attention.key_length",
                                                       "attention.value_length",
                                                       "classifier.output_labels",
                                                       "context_length",
                                                       "expert_count",
                                                       "expert_used_count",
                                                       "feed_forward_length",
                                                       "nextn_predict_layers",
                                                       "pooling_type",
                                                       "rope.scaling.finetuned",
                                                       "tensor_data_layout",
                                                       "vocab_size",
                                                       "attention.layer_norm_epsilon",
                                                       "attention.layer_norm_rms_epsilon"};

/// A value for a message.
std::string value_text(const io::GgufMetadata& metadata, const std::string& key) {
  const auto try_as = [&]<typename T>(T) -> std::string {
    try {
      return excerpt(nlohmann::json(metadata.get<T>(key)));
    } catch (const Error&) {
      return {};
    }
  };
  for (const std::string& text :
       {try_as(int64_t{}), try_as(double{}), try_as(bool{}), try_as(std::string{})})
    if (!text.empty()) return text;
  return "a list";
}

}  // namespace

std::vector<std::string> ArchitectureMetadata::warnings() const {
  std::vector<std::string> all;
  const std::string prefix = architecture_ + ".";
  for (const std::string& key : file_.metadata().keys()) {
    if (!key.starts_with(prefix) || asked_.contains(key)) continue;
    if (std::ranges::find(kMetadataWithoutEffect, std::string_view(key).substr(prefix.size())) !=
        std::end(kMetadataWithoutEffect))
      continue;
    all.push_back(fmt::format("{}: {} is {} and is ignored: heed knows no such setting of {}",
                              file_.name(), one_line(key), value_text(file_.metadata(), key),
                              one_line(architecture_)));
  }
  return all;
}

int64_t vocabulary_size(const io::GgufFile& file) {
  const Shape& shape = file.entry("token_embd.weight").shape;
  require(shape.rank() == 2, "{}: token_embd.weight is {}, expected a matrix", file.name(),
          shape.text());
  return shape[0];
}

int64_t layers(const ArchitectureMetadata& metadata) {
  const auto count = metadata.get<int64_t>("block_count");
  const auto tensors = static_cast<int64_t>(metadata.file().names().size());
  require(count > 0 && count <= tensors,
          "{}: block_count is {}, expected 1 to {}, the number of tensors", metadata.file().name(),
          count, tensors);
  return count;
}

bool is_causal(const ArchitectureMetadata& metadata) {
  const bool causal = metadata.get_or("attention.causal", true);
  require(causal || metadata.get_or<int64_t>("attention.sliding_window", 0) == 0,
          "{}: attention.causal is false, expected true with attention.sliding_window",
          metadata.file().name());
  return causal;
}

nlohmann::json token(const io::GgufFile& file, const std::string& which) {
  const std::string key = "tokenizer.ggml." + which + "_token_id";
  return file.metadata().contains(key) ? nlohmann::json(file.metadata().get<int64_t>(key))
                                       : nlohmann::json();
}

void set_vocabulary(const io::GgufFile& file, nlohmann::json& config) {
  config.update({{"vocab_size", vocabulary_size(file)},
                 {"bos_token_id", token(file, "bos")},
                 {"eos_token_id", token(file, "eos")},
                 {"pad_token_id", token(file, "padding")}});
}

void set_decoder_fields(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  set_vocabulary(metadata.file(), config);
  config["is_causal"] = is_causal(metadata);
  config["tie_word_embeddings"] = !metadata.file().contains("output.weight");
}

}  // namespace heed::model
