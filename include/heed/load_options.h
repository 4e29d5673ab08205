#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/adapter.h"
#include "heed/compute.h"
#include "heed/executor.h"
#include "heed/hub.h"

namespace heed {

namespace nn {
class TensorParallel;
}

/// The types that matrices can be converted to while a model is loaded. Vectors are always f32.
/// Those from q8_0 on are the blocks of GGUF files; their names begin with the bits of an element.
enum class WeightType : uint8_t { f32, bf16, q8_0, q6_K, q5_1, q5_0, q5_K, q4_1, q4_0, q4_K };

/// "f32", "bf16", "q8_0", "q6_K", ...
constexpr std::string_view name_of(WeightType type) {
  switch (type) {
    case WeightType::f32:
      return "f32";
    case WeightType::bf16:
      return "bf16";
    case WeightType::q8_0:
      return "q8_0";
    case WeightType::q6_K:
      return "q6_K";
    case WeightType::q5_1:
      return "q5_1";
    case WeightType::q5_0:
      return "q5_0";
    case WeightType::q5_K:
      return "q5_K";
    case WeightType::q4_1:
      return "q4_1";
    case WeightType::q4_0:
      return "q4_0";
    case WeightType::q4_K:
      return "q4_K";
  }
  return "?";
}

/// The type of cached keys and values; int8 has one scale per 32 elements.
enum class CacheType : uint8_t { f32, bf16, int8 };

/// "f32", "bf16" or "int8".
constexpr std::string_view name_of(CacheType type) {
  switch (type) {
    case CacheType::f32:
      return "f32";
    case CacheType::bf16:
      return "bf16";
    case CacheType::int8:
      return "int8";
  }
  return "?";
}

/// All values of WeightType.
inline constexpr std::array kWeightTypes{
    WeightType::f32,  WeightType::bf16, WeightType::q8_0, WeightType::q6_K, WeightType::q5_1,
    WeightType::q5_0, WeightType::q5_K, WeightType::q4_1, WeightType::q4_0, WeightType::q4_K};
/// All values of Compute.
inline constexpr std::array kComputes{Compute::f32, Compute::bf16, Compute::int8};
/// All values of CacheType.
inline constexpr std::array kCacheTypes{CacheType::f32, CacheType::bf16, CacheType::int8};

/// Speculative decoding (Leviathan et al. 2023; Chen et al. 2023): the next tokens of an output are
/// drafted, and one pass of the model checks all of them. Outputs stay the same, to the bit,
/// sampled ones too. How many tokens are drafted depends on how often they are right and on how
/// long passes take; where drafts do not pay there are few. Beam search has none.
struct SpeculationOptions {
  /// Drafts what followed the last tokens where they occurred before, in the prompt or the output
  /// (prompt lookup, Saxena 2023): for outputs that repeat parts of the prompt.
  bool ngram = false;
  /// Drafts what this smaller decoder-only model with the same tokenizer would generate: a model
  /// directory, a GGUF file or OWNER/NAME of the hub. It may be the model itself, with
  /// `draft_weights`. Not together with `ngram`.
  std::filesystem::path draft = {};
  std::optional<WeightType> draft_weights = {};  // of the draft, as LoadOptions::weights

  bool operator==(const SpeculationOptions&) const = default;
};

/// How a model is loaded. The defaults are the fast choice.
struct LoadOptions {
  /// Without it, weights stay as they are stored, in the mapped file where that is possible;
  /// matrices of 16 bits become f32 for models with an encoder, which multiply many rows at once.
  std::optional<WeightType> weights = {};
  /// Without it: int8 if the weights are quantised; bf16 for weights of 16 bits on a GPU; else f32.
  /// int8 converts weights that are not quantised to q8_0, unless `weights` says otherwise. bf16
  /// computes activations in bf16, too.
  std::optional<Compute> compute = {};
  /// Without it: bf16 if products are int8, else the type of the activations. Beam search, and
  /// therefore translation, always chooses by itself.
  std::optional<CacheType> cache = {};
  /// Where the model computes: "cpu"; "gpu", the first GPU that heed can use; "gpu:1", the GPU of
  /// that ordinal (devices.h); or "auto", the first GPU with room for the weights and the kv cache
  /// of the model's context (at most 8192 tokens), else the CPU. Loading throws Error when "gpu" or
  /// "gpu:N" cannot be used, or has no room for the weights.
  std::string device = "auto";
  /// If set, weights are initialised from this seed instead of read; config.json is enough then.
  std::optional<uint64_t> random_weights = {};
  /// The longest text in tokens of a model with scaled rotary positions, at most what the scaling
  /// is made for. Where the frequencies depend on it (rope_type dynamic or longrope), it is at
  /// least the original context, which it is by default.
  std::optional<int64_t> rope_context = {};
  /// LoRA adapters, which apply, together, to everything that the model computes; only a request of
  /// a Session can choose among them. The weights do not change.
  std::vector<AdapterOptions> adapters = {};
  /// A local directory where processes share packed weights: quantised weights, those of encoders
  /// and, with compute bf16, all that are rearranged for matrix products while a model is loaded.
  /// Without it, each process keeps its own copy. The first process writes a file as large as the
  /// packed weights; later ones map it. A file that does not match the model is replaced. Loading
  /// throws Error when the file cannot be written.
  std::filesystem::path weight_cache = {};
  /// A lexical shortlist for a translator, as make_shortlist() writes it and Marian reads it
  /// (lex.s2t): a translation then has only tokens that are likely for its source, and the logits
  /// of the others are not computed. Empty: all tokens. Loading throws Error when the file cannot
  /// be read, belongs to another vocabulary, or the model does not translate.
  std::filesystem::path shortlist = {};
  /// Makes generate() and Session decode speculatively; by default neither does.
  SpeculationOptions speculation = {};
  /// The threads that compute; without it, Executor::shared().
  std::shared_ptr<Executor> executor = {};
  /// Loads one part of a model that is divided among ranks, as the program does under mpirun
  /// (docs/cluster.md): all parts then compute the same calls together. Null: the whole model.
  std::shared_ptr<const nn::TensorParallel> parts = {};
  /// How models and adapters that are named OWNER/NAME are found and downloaded.
  HubOptions hub = {};

  bool operator==(const LoadOptions&) const = default;
};

}  // namespace heed
