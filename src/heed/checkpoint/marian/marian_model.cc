#include "heed/checkpoint/marian/marian_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/checkpoint/marian/marian_settings.h"
#include "heed/checkpoint/marian/marian_tensors.h"
#include "heed/checkpoint/weights.h"
#include "heed/model/families/known.h"
#include "heed/text/files/marian_vocabulary.h"

namespace heed::checkpoint {
namespace {

/// Marian's tables of positions have no end; OPUS-MT's longest training sentences had 500 tokens.
constexpr int64_t kPositions = 1024;

int64_t number_of(const text::PieceNames& names, const char* piece, const std::string& file) {
  const auto found = std::ranges::find(names, piece);
  require(found != names.end(), "{}: has no {}", file, piece);
  return found - names.begin();
}

/// As a config.json of transformers says it.
nlohmann::json config_json(const MarianSettings& settings, int64_t source_size, int64_t target_size,
                           int64_t eos, int64_t start) {
  return {{"vocab_size", source_size},
          {"decoder_vocab_size", target_size},
          {"share_encoder_decoder_embeddings", settings.shared_embeddings},
          {"tie_word_embeddings", settings.tied_head},
          {"d_model", settings.d_model},
          {"encoder_layers", settings.encoder_layers},
          {"decoder_layers", settings.decoder_layers},
          {"encoder_attention_heads", settings.n_heads},
          {"decoder_attention_heads", settings.n_heads},
          {"encoder_ffn_dim", settings.d_ff},
          {"decoder_ffn_dim", settings.decoder_d_ff},
          {"activation_function", settings.activation},
          {"max_position_embeddings", kPositions},
          {"scale_embedding", true},
          {"eos_token_id", eos},
          {"pad_token_id", start},
          {"decoder_start_token_id", start}};
}

/// As transformers computes it.
MarianModel described(const io::MarianFiles& files) {
  auto weights = io::NpzFile::open(files.weights);
  const MarianSettings settings = read_marian_settings(*weights);
  const auto [source, target] = text::read_marian_vocabularies(files.weights.parent_path(), files);
  const int64_t eos = number_of(*target.names, "</s>", files.target_vocabulary.string());
  const int64_t start =
      number_of(*target.names, text::kMarianPad, files.target_vocabulary.string());
  MarianModel model{.config = {},
                    .family = settings.pre_norm ? model::pegasus_family() : model::marian_family(),
                    .weights = marian_tensors(weights, settings)};
  model.config = model.family.read_config(
      config_json(settings, std::ssize(*source.names), std::ssize(*target.names), eos, start),
      files.weights.string());
  model.config.family = model.family.model_type;
  model.config.validate();
  return model;
}

}  // namespace

MarianModel open_marian_model(const io::MarianFiles& files) {
  MarianModel model = described(files);
  model.config.fairseq_sinusoids = true;  // fairseq has Marian's frequencies
  model.config.norm_epsilon = 1e-6f;
  model.config.family.clear();  // transformers has none with these
  if (model.family.model_type == model::pegasus_family().model_type)
    model.config.warnings.push_back(fmt::format(
        "{}: transformer-preprocess is n: earlier tokens of the translation are normalised as in "
        "Marian's training, which Marian's decoder does not do: translations may differ from its",
        files.weights.string()));
  model.config.validate();
  return model;
}

std::unique_ptr<model::Transformer> load_marian_for_transformers(const io::MarianFiles& files) {
  const MarianModel stored = described(files);
  auto model = std::make_unique<model::Transformer>(stored.config, std::nullopt);
  load_weights(*model, stored.family, *stored.weights, {DType::f32});
  return model;
}

}  // namespace heed::checkpoint
