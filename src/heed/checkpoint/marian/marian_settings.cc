#include "heed/checkpoint/marian/marian_settings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/io/flat_yaml.h"

namespace heed::checkpoint {
namespace {

constexpr const char* kSettings = "special:model.yml";

/// Settings that have only this value here, where a list is empty; they may be missing.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kFixed{
    {{"type", "transformer"},
     {"factors-dim-emb", "0"},
     {"input-types", ""},
     {"lemma-dim-emb", "0"},
     {"right-left", "false"},
     {"skip", "false"},
     {"transformer-alibi-trainable", "false"},
     {"transformer-alibi-shift", "false"},
     {"transformer-attention-mask", "default"},
     {"transformer-decoder-autoreg", "self-attention"},
     {"transformer-decoder-ffn-depth", "0"},
     {"transformer-disable-position-embeddings", "false"},
     {"transformer-ffn-depth", "2"},
     {"transformer-no-projection", "false"},
     {"transformer-pool", "false"},
     {"transformer-rnn-projection", "false"},
     {"transformer-tied-layers", ""},
     {"transformer-train-position-embeddings", "false"},
     {"transformer-train-positions", "false"},
     {"ulr", "false"}}};

/// Settings of other kinds of models, of training, and of what the arrays show anyway.
constexpr std::array<std::string_view, 22> kOfOthers{"bert-train-type-embeddings",
                                                     "bert-type-vocab-size",
                                                     "dec-cell",
                                                     "dec-cell-base-depth",
                                                     "dec-cell-high-depth",
                                                     "dim-rnn",
                                                     "dim-vocabs",
                                                     "enc-cell",
                                                     "enc-cell-depth",
                                                     "enc-type",
                                                     "factors-combine",
                                                     "layer-normalization",
                                                     "lemma-dependency",
                                                     "output-omit-bias",
                                                     "separator-symbol",
                                                     "transformer-depth-scaling",
                                                     "transformer-dim-aan",
                                                     "transformer-guided-alignment-layer",
                                                     "transformer-no-affine",
                                                     "transformer-no-bias",
                                                     "ulr-dim-emb",
                                                     "version"};

bool is_of_others(std::string_view key) {
  return std::ranges::find(kOfOthers, key) != kOfOthers.end() ||
         key.starts_with("transformer-aan-") || key.starts_with("ulr-") || key.starts_with("bert-");
}

class Settings {
 public:
  explicit Settings(const io::NpzFile& weights)
      : yaml_(text_in(weights), fmt::format("{}: {}", weights.name(), kSettings)) {}

  void check_all() const {
    constexpr std::array<std::string_view, 16> kRead{"dec-depth",
                                                     "dim-emb",
                                                     "enc-depth",
                                                     "tied-embeddings",
                                                     "tied-embeddings-all",
                                                     "tied-embeddings-src",
                                                     "transformer-decoder-dim-ffn",
                                                     "transformer-dim-ffn",
                                                     "transformer-ffn-activation",
                                                     "transformer-heads",
                                                     "transformer-postprocess",
                                                     "transformer-postprocess-emb",
                                                     "transformer-postprocess-top",
                                                     "transformer-preprocess",
                                                     "original-type",
                                                     "max-length"};
    for (const auto& [key, value] : yaml_.values()) {
      const auto fixed = std::ranges::find(kFixed, key, &decltype(kFixed)::value_type::first);
      if (fixed != kFixed.end()) {
        const std::string found = value.items.empty() ? "" : value.items.front();
        refuse_unless(found == fixed->second, key, found);
      } else {
        require(std::ranges::find(kRead, key) != kRead.end() || is_of_others(key),
                "{}: {} is no setting that heed knows", yaml_.file(), quoted(key));
      }
    }
  }

  std::string text(const std::string& key, const char* otherwise) const {
    return yaml_.scalar(key).value_or(otherwise);
  }
  bool flag(const std::string& key) const { return text(key, "false") == "true"; }
  int64_t number(const std::string& key) const {
    constexpr int64_t kMost = 1 << 20;
    const std::string found = text(key, "missing");
    const int64_t value = parse_number<int64_t>(found).value_or(-1);
    require(value >= 0 && value <= kMost, "{}: {} is {}, expected 0 to {}", yaml_.file(), key,
            quoted(found), kMost);
    return value;
  }
  /// Earlier versions normalised the queries of self-attention alone.
  void require_normalized_keys() const {
    constexpr int kMajor = 1, kMinor = 12;
    const std::string version = text("version", "");
    int major = 0, minor = 0;
    const int read = std::sscanf(version.c_str(), "v%d.%d.", &major, &minor);
    require(
        read == 2 && (major > kMajor || (major == kMajor && minor >= kMinor)),
        "{}: transformer-preprocess is \"n\" and version {}: heed normalises the keys and values "
        "of self-attention, too, as Marian does since v{}.{}",
        yaml_.file(), version.empty() ? "missing" : quoted(version), kMajor, kMinor);
  }
  void refuse_unless(bool applied, std::string_view key, const std::string& value) const {
    require(applied, "{}: {} is {}, which heed does not apply", yaml_.file(), key, quoted(value));
  }

 private:
  /// Marian ends the text with a zero byte.
  static std::string_view text_in(const io::NpzFile& weights) {
    require(weights.contains(kSettings), "{}: has no {}: is it a model of Marian?", weights.name(),
            kSettings);
    const std::string_view text = weights.text(kSettings);
    return text.substr(0, text.find('\0'));
  }

  io::FlatYaml yaml_;
};

/// Where layers normalise: after each block, or before it and at the end of a stack. Dropout ("d")
/// matters in training alone.
bool is_pre_norm(const Settings& settings) {
  const auto steps = [&](const char* key, const char* otherwise) {
    std::string text = settings.text(key, otherwise);
    std::erase(text, 'd');
    return text;
  };
  const std::string before = steps("transformer-preprocess", ""),
                    after = steps("transformer-postprocess", "dan"),
                    top = steps("transformer-postprocess-top", ""),
                    embeddings = steps("transformer-postprocess-emb", "d");
  settings.refuse_unless(embeddings.empty(), "transformer-postprocess-emb", embeddings);
  const bool pre = before == "n";
  settings.refuse_unless(pre || before.empty(), "transformer-preprocess", before);
  if (pre) settings.require_normalized_keys();
  settings.refuse_unless(after == (pre ? "a" : "an"), "transformer-postprocess", after);
  settings.refuse_unless(top == (pre ? "n" : ""), "transformer-postprocess-top", top);
  return pre;
}

}  // namespace

MarianSettings read_marian_settings(const io::NpzFile& weights) {
  const Settings settings(weights);
  settings.check_all();
  MarianSettings result{.d_model = settings.number("dim-emb"),
                        .n_heads = settings.number("transformer-heads"),
                        .d_ff = settings.number("transformer-dim-ffn"),
                        .encoder_layers = settings.number("enc-depth"),
                        .decoder_layers = settings.number("dec-depth"),
                        .activation = settings.text("transformer-ffn-activation", "swish"),
                        .pre_norm = is_pre_norm(settings)};
  settings.refuse_unless(result.activation == "relu" || result.activation == "swish",
                         "transformer-ffn-activation", result.activation);
  const std::string decoder = settings.text("transformer-decoder-dim-ffn", "0");
  result.decoder_d_ff =
      decoder == "0" ? result.d_ff : settings.number("transformer-decoder-dim-ffn");
  const bool all = settings.flag("tied-embeddings-all");
  result.shared_embeddings = all || settings.flag("tied-embeddings-src");
  result.tied_head = all || settings.flag("tied-embeddings");
  return result;
}

}  // namespace heed::checkpoint
