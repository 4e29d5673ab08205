#include "heed/text/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <exception>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/text/sentencepiece_check.h"
#include "heed/text/utf8.h"

namespace heed::text {

struct SentencePiece::Model {
  std::string serialized;
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

void require_ok(const sentencepiece::util::Status& status, const char* what) {
  require(status.ok(), "SentencePiece cannot {}: {}", what, status.error_message());
}

void require_id(int32_t id, int32_t vocab_size) {
  require(id >= 0 && id < vocab_size, "piece {} is outside the vocabulary of {}", id, vocab_size);
}

}  // namespace

SentencePiece::SentencePiece(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

SentencePiece SentencePiece::load(const std::filesystem::path& path) {
  return from_bytes(read_file(path), path.string());
}

SentencePiece SentencePiece::from_bytes(std::string serialized, const std::string& name) {
  check_sentencepiece_model(serialized, name);
  auto model = std::make_shared<Model>();
  model->serialized = std::move(serialized);
  std::string problem;
  try {
    const auto status = model->processor.LoadFromSerializedProto(model->serialized);
    if (!status.ok()) problem = status.error_message();
  } catch (const std::exception& exception) {
    problem = exception.what();
  }
  require(problem.empty(), "{} is not a usable SentencePiece model: {}", name, problem);
  for (int32_t id = 0; id < model->processor.GetPieceSize(); ++id)
    require(is_valid_utf8(model->processor.IdToPiece(id)),
            "{} is a broken SentencePiece model: piece {} is not valid UTF-8", name, id);
  return SentencePiece(std::move(model));
}

std::vector<int32_t> SentencePiece::encode(std::string_view text) const {
  std::vector<int> ids;
  require_ok(model_->processor.Encode(text, &ids), "cut the text into pieces");
  return ids;
}

std::vector<std::string> SentencePiece::encode_pieces(std::string_view text) const {
  std::vector<std::string> pieces;
  require_ok(model_->processor.Encode(text, &pieces), "cut the text into pieces");
  return pieces;
}

std::string SentencePiece::decode(std::span<const int32_t> ids) const {
  std::vector<int> kept;
  kept.reserve(ids.size());
  for (const int32_t id : ids) {
    require_id(id, vocab_size());
    if (!model_->processor.IsControl(id)) kept.push_back(id);
  }
  std::string text;
  require_ok(model_->processor.Decode(kept, &text), "join pieces");
  return text;
}

const std::string& SentencePiece::piece(int32_t id) const {
  require_id(id, vocab_size());
  return model_->processor.IdToPiece(id);
}

int32_t SentencePiece::id_of(std::string_view piece) const {
  return model_->processor.PieceToId(piece);
}

int32_t SentencePiece::vocab_size() const { return model_->processor.GetPieceSize(); }
int32_t SentencePiece::pad_id() const { return model_->processor.pad_id(); }
int32_t SentencePiece::eos_id() const { return model_->processor.eos_id(); }
int32_t SentencePiece::unk_id() const { return model_->processor.unk_id(); }

const std::string& SentencePiece::serialized() const { return model_->serialized; }

}  // namespace heed::text
