#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/model/families/classifier_json.h"
#include "heed/tasks/text_classifier.h"

namespace heed::tasks {
namespace {

std::vector<double> softmax(std::span<const float> logits) {
  const double largest = static_cast<double>(std::ranges::max(logits));
  std::vector<double> scores;
  double sum = 0;
  for (const float logit : logits)
    sum += scores.emplace_back(std::exp(static_cast<double>(logit) - largest));
  for (double& score : scores) score /= sum;
  return scores;
}

/// "B-PER": begins an entity of the kind "PER". Labels of another form continue one.
struct Tag {
  explicit Tag(const std::string& label)
      : begins(label.starts_with("B-")),
        kind(begins || label.starts_with("I-") ? label.substr(2) : label) {}
  bool begins;
  std::string kind;
};

/// Counts the characters before bytes that are asked for in ascending order, or nearly so.
class CharacterCount {
 public:
  explicit CharacterCount(std::string_view text) : text_(text) {}

  int64_t before(size_t byte) {
    if (byte < byte_) byte_ = 0;
    if (byte_ == 0) count_ = 0;
    for (; byte_ < byte; ++byte_) count_ += (text_[byte_] & 0xC0) != 0x80 ? 1 : 0;
    return count_;
  }

 private:
  std::string_view text_;
  size_t byte_ = 0;
  int64_t count_ = 0;
};

void set_places(std::vector<Entity>& entities, std::string_view text, const TextTokens& tokens,
                const text::Tokenizer& tokenizer) {
  if (entities.empty()) return;
  const std::vector<text::TextSpan> spans = tokenizer.encode_with_spans(text).spans;
  require(!spans.empty(), "the tokens of the text have no place in it");
  // A post-processor may repeat a text.
  const auto span_of = [&](int64_t token) {
    return spans[static_cast<size_t>(tokens.cut + token - tokens.begin) % spans.size()];
  };
  CharacterCount characters(text);
  for (Entity& entity : entities) {
    entity.start = characters.before(span_of(entity.first_token).begin);
    entity.end = characters.before(span_of(entity.end_token - 1).end);
  }
}

/// Throws Error on a module that changes what the model gives.
void require_transformer_alone(const std::filesystem::path& modules_path) {
  const std::string file = modules_path.string();
  const nlohmann::json modules = parse_json(read_file(modules_path), file);
  require(modules.is_array(), "{}: expected a list, found {}", file, excerpt(modules));
  for (size_t i = 1; i < modules.size(); ++i)
    fail("{}: module {} is {}, which heed does not support in a CrossEncoder", file, i + 1,
         one_line(get<std::string>(modules[i], "type", file)));
}

}  // namespace

std::vector<double> label_scores(const model::ClassifierConfig& classifier,
                                 std::span<const float> logits) {
  using enum model::ClassifierConfig::Problem;
  std::vector<double> scores(logits.begin(), logits.end());
  if (classifier.problem == regression) return scores;
  if (classifier.problem != multi_label && logits.size() > 1) return softmax(logits);
  for (double& score : scores) score = 1.0 / (1.0 + std::exp(-score));
  return scores;
}

PairSettings read_pair_settings(const std::filesystem::path& model_path, int64_t vocab_size) {
  PromptSettings read = read_prompt_settings(model_path, {"CrossEncoder"});
  std::optional<LogitScore> score = read_logit_score(model_path, vocab_size);
  if (read.present && !score) require_transformer_alone(model_path / kModulesFile);
  PairSettings settings{.sigmoid = {},
                        .prompt = std::move(read.prompt),
                        .logit_score = std::move(score),
                        .warnings = std::move(read.warnings)};
  const std::filesystem::path path = model_path / kSentenceTransformersFile;
  if (path_is_file(model_path) || !path_exists(path)) return settings;
  const std::string file = path.string();
  const auto activation =
      get_or<std::string>(parse_json(read_file(path), file), "activation_fn", "", file);
  if (!activation.empty()) settings.sigmoid = model::is_sigmoid(activation, file);
  return settings;
}

std::vector<Entity> entities_of(const model::ClassifierConfig& classifier, std::string_view text,
                                const TextTokens& tokens, std::span<const float> logits,
                                const text::Tokenizer& tokenizer) {
  const size_t labels = classifier.labels.size();
  std::vector<Entity> groups;
  std::string last_kind;
  for (int64_t token = tokens.begin; token < tokens.end; ++token) {
    const std::vector<double> scores =
        softmax(logits.subspan(static_cast<size_t>(token) * labels, labels));
    const auto best = std::ranges::max_element(scores);
    const Tag tag(classifier.labels[static_cast<size_t>(best - scores.begin())]);
    if (groups.empty() || tag.begins || tag.kind != last_kind) {
      groups.emplace_back().label = tag.kind;
      groups.back().first_token = token;
    }
    groups.back().score += *best;
    groups.back().end_token = token + 1;
    last_kind = tag.kind;
  }
  std::erase_if(groups, [](const Entity& entity) { return entity.label == "O"; });
  for (Entity& entity : groups) {
    const auto count = static_cast<size_t>(entity.end_token - entity.first_token);
    entity.score /= static_cast<double>(count);
    entity.text = tokenizer.decode(
        std::span(tokens.ids).subspan(static_cast<size_t>(entity.first_token), count), false);
  }
  set_places(groups, text, tokens, tokenizer);
  return groups;
}

}  // namespace heed::tasks
