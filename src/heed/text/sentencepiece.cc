#include "heed/text/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/text/decoders/replace_all.h"
#include "heed/text/files/sentencepiece_check.h"
#include "heed/text/models/sentencepiece_model.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// The library decodes. Texts are split by SentencePieceModel, whose time has a bound.
struct SentencePiece::Model {
  std::string serialized;
  sentencepiece::SentencePieceProcessor processor;
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<SentencePieceModel> pieces;

  std::string normalized(std::string_view text) const {
    NormalizedText result{std::string(text)};
    normalizer->apply(result, std::numeric_limits<size_t>::max());
    return std::move(result.text);
  }
};

namespace {

std::string reason_of(const sentencepiece::util::Status& status) {
  const std::string message = status.error_message();
  return one_line(message.empty() ? status.ToString() : message);
}

void require_ok(const sentencepiece::util::Status& status, const char* what) {
  require(status.ok(), "SentencePiece cannot {}: {}", what, reason_of(status));
}

/// The sum of the scores of pieces; nothing if one is not in the vocabulary.
std::optional<double> score_of(const sentencepiece::SentencePieceProcessor& processor,
                               const std::vector<std::string>& pieces) {
  double score = 0;
  for (const std::string& piece : pieces) {
    const int id = processor.PieceToId(piece);
    if (processor.IsUnknown(id)) return std::nullopt;
    score += static_cast<double>(processor.GetScore(id));
  }
  return score;
}

std::vector<std::string> split_at_spaces(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Throws Error when the processor splits a sample into other pieces than the trainer did, unless
/// their scores are equal.
void run_self_test(const SentencePiece& model,
                   const sentencepiece::SentencePieceProcessor& processor, const SelfTest& test,
                   const std::string& name) {
  constexpr double kSame = 1e-6;
  for (const auto& [input, expected] : test.samples) {
    const std::vector<std::string> pieces = model.encode_pieces(input);
    const std::string found = fmt::format("{}", fmt::join(pieces, " "));
    if (found == expected) continue;
    const auto score = score_of(processor, pieces);
    const auto expected_score = score_of(processor, split_at_spaces(expected));
    require(score && expected_score && std::abs(*score - *expected_score) < kSame,
            "{} is not a usable SentencePiece model: it fails its own test: {} becomes {}, "
            "expected {}",
            name, quoted(input), quoted(found), quoted(expected));
  }
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
  check_piece_lengths(serialized, name);
  auto model = std::make_shared<Model>();
  const SelfTest test = take_self_test(serialized);
  model->serialized = std::move(serialized);
  std::string problem;
  try {
    auto status = model->processor.LoadFromSerializedProto(test.model);
    if (status.ok()) status = model->processor.status();
    if (!status.ok()) problem = reason_of(status);
  } catch (const std::exception& exception) {
    problem = one_line(exception.what());
  }
  require(problem.empty(), "{} is not a usable SentencePiece model: {}", name, problem);
  for (int32_t id = 0; id < model->processor.GetPieceSize(); ++id)
    require(is_valid_utf8(model->processor.IdToPiece(id)),
            "{} is a broken SentencePiece model: piece {} is not valid UTF-8", name, id);
  const auto proto = SentencePieceProto::read(test.model, name);
  model->normalizer = make_sentencepiece_normalizer(proto, name);
  model->pieces = make_sentencepiece_model(proto, name);
  const auto& processor = model->processor;
  SentencePiece result(std::move(model));
  run_self_test(result, processor, test, name);
  return result;
}

std::vector<int32_t> SentencePiece::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  model_->pieces->tokenize(model_->normalized(text), ids);
  return ids;
}

std::vector<std::string> SentencePiece::encode_pieces(std::string_view text) const {
  const std::string normalized = model_->normalized(text);
  std::vector<std::string> pieces;
  for (const SentencePiecePart& part : model_->pieces->parts_of(normalized))
    if (model_->pieces->byte_fallback() && model_->pieces->is_unknown(part.id))
      for (const char byte : part.text) pieces.push_back(byte_piece(static_cast<uint8_t>(byte)));
    else
      pieces.emplace_back(part.text);
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
  require_ok(model_->processor.Decode(kept, &text), "decode the pieces");
  return text;
}

std::string SentencePiece::decode_pieces(const std::vector<std::string>& pieces) const {
  constexpr std::string_view kSpace = "\u2581";
  std::string text;
  require_ok(model_->processor.Decode(pieces, &text), "decode the pieces");
  // Of pieces that are not the model's, the library leaves the marked spaces.
  if (text.find(kSpace) == std::string::npos) return text;
  replace_all(text, kSpace, " ");
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

bool SentencePiece::is_text(std::string_view piece) const {
  const int id = model_->processor.PieceToId(piece);
  return !model_->processor.IsUnknown(id) && !model_->processor.IsControl(id);
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
