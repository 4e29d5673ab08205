#include "heed/train/tasks/vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/text/sentencepiece.h"

namespace heed::train {
namespace {

constexpr int32_t kPad = 0, kEnd = 1, kUnknown = 2, kMask = 3;
constexpr int64_t kBytes = 256;
constexpr int64_t kMinTranslationPieces = 8;
/// SentencePiece skips sentences longer than about 4 kB.
constexpr size_t kLongestLine = 2000;

/// The lines of the texts; long ones are cut at spaces.
std::vector<std::string> lines_of(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (std::string_view text : texts)
    while (!text.empty()) {
      size_t length = text.find('\n');
      if (length == text.npos) length = text.size();
      if (length > kLongestLine)
        if (const size_t space = text.find(' ', kLongestLine); space < length) length = space;
      lines.emplace_back(text.substr(0, length));
      text.remove_prefix(std::min(length + 1, text.size()));
    }
  return lines;
}

/// The learned pieces without special tokens, in the order in which they were learned.
std::vector<std::string> learn_pieces(const std::vector<std::string>& texts, int64_t count) {
  constexpr int32_t kSpecial = 3;
  const text::SentencePiece model = text::SentencePiece::train(
      lines_of(texts), {.vocab_size = static_cast<int>(count) + kSpecial});
  std::vector<std::string> pieces;
  for (int32_t id = kSpecial; id < model.vocab_size(); ++id) pieces.push_back(model.piece(id));
  return pieces;
}

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// The merges of a vocabulary: all pairs of pieces that form a piece, in the order of the latter.
nlohmann::json merges_of(const std::vector<std::string>& pieces) {
  const std::unordered_set<std::string_view> known(pieces.begin(), pieces.end());
  nlohmann::json merges = nlohmann::json::array();
  for (const std::string_view piece : pieces)
    for (size_t cut = 1; cut < piece.size(); ++cut)
      if (begins_code_point(piece[cut]) && known.contains(piece.substr(0, cut)) &&
          known.contains(piece.substr(cut)))
        merges.push_back({piece.substr(0, cut), piece.substr(cut)});
  return merges;
}

nlohmann::json replace(const char* what, const char* by) {
  return {{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", by}};
}

nlohmann::json added_token(int32_t id, const char* content) {
  return {{"id", id},        {"content", content}, {"special", true},    {"single_word", false},
          {"lstrip", false}, {"rstrip", false},    {"normalized", false}};
}

nlohmann::json template_of(TextFrame frame) {
  const nlohmann::json end = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}};
  const auto around = [&](std::vector<const char*> texts) {
    nlohmann::json parts = nlohmann::json::array();
    for (const char* text : texts) {
      if (frame.begin) parts.push_back(end);
      parts.push_back({{"Sequence", {{"id", text}, {"type_id", 0}}}});
      if (frame.end) parts.push_back(end);
    }
    return parts;
  };
  return {{"type", "TemplateProcessing"},
          {"single", around({"A"})},
          {"pair", around({"A", "B"})},
          {"special_tokens", {{"</s>", {{"id", "</s>"}, {"ids", {kEnd}}, {"tokens", {"</s>"}}}}}}};
}

/// tokenizer.json as Hugging Face's `tokenizers` reads it.
nlohmann::json tokenizer_json(const std::vector<std::string>& pieces, TextFrame frame) {
  nlohmann::json added = {added_token(kPad, "<pad>"), added_token(kEnd, "</s>"),
                          added_token(kUnknown, "<unk>")};
  if (frame.mask) added.push_back(added_token(kMask, "<mask>"));
  nlohmann::json vocabulary = nlohmann::json::object();
  for (const nlohmann::json& token : added)
    vocabulary[token["content"].get<std::string>()] = token["id"];
  for (int64_t byte = 0; byte < kBytes; ++byte)
    vocabulary[fmt::format("<0x{:02X}>", byte)] = vocabulary.size();
  for (const std::string& piece : pieces) vocabulary.emplace(piece, vocabulary.size());
  // The normalizer puts a space mark at the beginning of the text and after each line break. The
  // decoder removes these marks, so decoding is exact.
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "\u2581"}},
              replace("\n", "\n\u2581"),
              replace(" ", "\u2581")}}}},
          {"pre_tokenizer",
           {{"type", "Metaspace"},
            {"replacement", "\u2581"},
            {"prepend_scheme", "never"},
            {"split", true}}},
          {"post_processor", template_of(frame)},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              replace("\n\u2581", "\n"),
              replace("\u2581", " "),
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", "<unk>"},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"ignore_merges", false},
            {"vocab", vocabulary},
            {"merges", merges_of(pieces)}}}};
}

/// The number of pieces that are not learned: special tokens and bytes.
int64_t fixed_pieces(TextFrame frame) { return kMask + (frame.mask ? 1 : 0) + kBytes; }

nlohmann::json tokenizer_config(TextFrame frame) {
  nlohmann::json json = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                         {"eos_token", "</s>"},
                         {"unk_token", "<unk>"},
                         {"pad_token", "<pad>"},
                         {"clean_up_tokenization_spaces", false}};
  if (frame.begin) json["bos_token"] = "</s>";
  if (frame.mask) json["mask_token"] = "<mask>";
  return json;
}

}  // namespace

void take_vocabulary(const std::filesystem::path& start, model::ModelConfig& model) {
  const model::ModelConfig stored = checkpoint::build_model(start)->config();
  model.vocab_size = stored.vocab_size;
  model.pad_id = stored.pad_id;
  model.bos_id = stored.bos_id;
  model.eos_id = stored.eos_id;
  model.other_eos_ids = stored.other_eos_ids;
  model.decoder_start_id = stored.decoder_start_id;
}

TextFrame frame_of(TaskKind task) {
  switch (task) {
    case TaskKind::causal_lm:
      return {.begin = true};
    case TaskKind::masked_lm:
      return {.begin = true, .end = true, .mask = true};
    case TaskKind::classify:
    case TaskKind::score:
    case TaskKind::rerank:
    case TaskKind::tag:
    case TaskKind::embed:
      return {.begin = true, .end = true};
    case TaskKind::translation:
    case TaskKind::text_to_text:
    case TaskKind::chat:  // these two learn no vocabulary
    case TaskKind::preference:
      break;
  }
  return {.end = true};
}

int64_t min_vocabulary(TaskKind task) {
  return task == TaskKind::translation ? kMinTranslationPieces : fixed_pieces(frame_of(task)) + 1;
}

void take_new_vocabulary(int64_t size, TaskKind task, model::ModelConfig& model) {
  model.vocab_size = size;
  model.pad_id = kPad;
  model.decoder_start_id = model.encoder_layers > 0 && model.decoder_layers > 0 ? kPad : -1;
  model.eos_id = kEnd;
  model.bos_id = frame_of(task).begin ? kEnd : -1;
}

TokenizerWithFiles learn_tokenizer(const std::vector<std::string>& texts, int64_t size,
                                   TextFrame frame) {
  const int64_t fixed = fixed_pieces(frame);
  require(size > fixed,
          "vocabulary.size is {}, expected more than {}, the number of bytes and special tokens",
          size, fixed);
  const nlohmann::json json = tokenizer_json(learn_pieces(texts, size - fixed), frame);
  text::SpecialTokenNames names;
  names.eos = "</s>";
  names.pad = "<pad>";
  names.unk = "<unk>";
  if (frame.begin) names.bos = names.eos;
  if (frame.mask) names.mask = "<mask>";
  std::vector<checkpoint::NamedFile> files = {
      {"tokenizer.json", dump_json(json, {.indent = 1}) + "\n"},
      {"tokenizer_config.json", dump_json(tokenizer_config(frame), {.indent = 2}) + "\n"}};
  return {text::Tokenizer::from_parts(
              text::read_tokenizer_parts(json, "the vocabulary just learned"), names),
          std::move(files)};
}

TokenizerWithFiles prepare_tokenizer(const TrainConfig& config, const std::filesystem::path& start,
                                     const std::vector<std::string>& texts,
                                     model::ModelConfig& model, Observer& observer) {
  if (!start.empty()) {
    text::Tokenizer tokenizer = text::read_tokenizer(start);
    take_vocabulary(start, model);
    std::vector<checkpoint::NamedFile> files = tokenizer.files();
    return {std::move(tokenizer), std::move(files)};
  }
  TokenizerWithFiles learned =
      learn_tokenizer(texts, config.vocabulary.size, frame_of(config.run.task));
  take_new_vocabulary(learned.tokenizer.vocab_size(), config.run.task, model);
  observer.log(fmt::format("vocabulary: {} bpe pieces", model.vocab_size));
  return learned;
}

std::string piece_of(const text::Tokenizer& tokenizer, int32_t token) {
  try {
    return tokenizer.piece(token);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace heed::train
