#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/gguf/gguf_file.h"

namespace heed::model {

/// The metadata of a file under keys that begin with its architecture. It remembers the keys that
/// were asked for: all others are in warnings().
class ArchitectureMetadata {
 public:
  ArchitectureMetadata(const io::GgufFile& file, std::string architecture)
      : file_(file), architecture_(std::move(architecture)) {}

  const io::GgufFile& file() const { return file_; }
  const std::string& architecture() const { return architecture_; }
  bool contains(const char* key) const { return file_.metadata().contains(full(key)); }
  template <typename T>
  T get(const char* key) const {
    asked_.insert(full(key));
    return file_.metadata().get<T>(full(key));
  }
  template <typename T>
  T get_or(const char* key, T otherwise) const {
    asked_.insert(full(key));
    return file_.metadata().get_or<T>(full(key), otherwise);
  }
  /// null where there is none.
  template <typename T>
  nlohmann::json json(const char* key) const {
    return contains(key) ? nlohmann::json(get<T>(key)) : nlohmann::json();
  }
  /// Throws Error when llama.cpp would compute with another number than the one that heed has.
  template <typename T>
  void expect(const char* key, T expected) const {
    const T found = get_or<T>(key, expected);
    require(found == expected, "{}: {} is {}, expected {}", file_.name(), full(key), found,
            expected);
  }

  /// For the keys that nothing asked for and that could say something about the model: "FILE: KEY
  /// is VALUE and is ignored: WHY".
  std::vector<std::string> warnings() const;

 private:
  std::string full(const char* key) const { return architecture_ + "." + key; }

  const io::GgufFile& file_;
  std::string architecture_;
  mutable std::set<std::string> asked_;
};

/// The rows of the embedding: not all files state the size of the vocabulary.
int64_t vocabulary_size(const io::GgufFile& file);
/// block_count. Throws Error on more layers than tensors, before memory is allocated for the
/// layers.
int64_t layers(const ArchitectureMetadata& metadata);
/// The id of a special token, such as "bos"; null where there is none.
nlohmann::json token(const io::GgufFile& file, const std::string& which);

/// Sets vocab_size and the ids of bos, eos and pad of config.json.
void set_vocabulary(const io::GgufFile& file, nlohmann::json& config);

/// The same, and is_causal and tie_word_embeddings of a decoder. Throws Error as is_causal().
void set_decoder_fields(const ArchitectureMetadata& metadata, nlohmann::json& config);
/// attention.causal. Throws Error when it is false beside a window: llama.cpp's windows of a model
/// that is not causal reach another way than those of transformers.
bool is_causal(const ArchitectureMetadata& metadata);

/// "rope_scaling" of config.json; null without scaling. Throws Error on divisors of the frequencies
/// that are not Llama 3's.
nlohmann::json rotary_scaling(const ArchitectureMetadata& metadata);

}  // namespace heed::model
