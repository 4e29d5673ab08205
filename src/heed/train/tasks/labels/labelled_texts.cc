#include "heed/train/tasks/labels/labelled_texts.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/train/tasks/labels/label_list.h"

namespace heed::train {
namespace {

constexpr int64_t kTextsPerTask = 32;

/// The first byte of each character of a text, and its length.
std::vector<size_t> character_bytes(std::string_view text) {
  std::vector<size_t> bytes;
  for (size_t i = 0; i < text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80) bytes.push_back(i);
  bytes.push_back(text.size());
  return bytes;
}

}  // namespace

LabelledTexts::LabelledTexts(const TrainConfig& config, const text::Tokenizer& tokenizer,
                             std::span<const std::string> names, tasks::TextSettings settings)
    : config_(config), tokenizer_(tokenizer), names_(names), settings_(std::move(settings)) {}

std::string LabelledTexts::cased(const std::string& text) const {
  return settings_.lower_case ? tasks::lower_cased(text) : text;
}

/// The label of tokens outside of all spans.
int32_t LabelledTexts::outside() const {
  const auto found = std::ranges::find(names_, "O");
  require(found != names_.end(), "the labels of the model have no O, for tokens outside of spans");
  return static_cast<int32_t>(found - names_.begin());
}

/// A token belongs to the first span that has a part of it; special tokens have no label.
void LabelledTexts::read_spans(const LabelledLine& line, data::LabelledText& result) const {
  const tasks::TextTokens tokens = tasks::tokens_within(tokenizer_, line.text, settings_.limit);
  const std::vector<text::TextSpan> places = tokenizer_.encode_with_spans(line.text).spans;
  const std::vector<size_t> bytes = character_bytes(line.text);
  std::vector<int32_t> labels(places.size(), outside());
  for (const LabelledSpan& span : line.spans) {
    const size_t begin = bytes[static_cast<size_t>(span.start)],
                 end = bytes[static_cast<size_t>(span.end)];
    bool first = true;
    for (size_t i = 0; i < places.size(); ++i) {
      const bool inside = places[i].begin < end && begin < places[i].end;
      if (!inside || labels[i] != outside()) continue;
      labels[i] = label_number(names_, (first ? "B-" : "I-") + span.label, line.where);
      first = false;
    }
    require(!first, "{}: the span {} to {} covers no token of its own", line.where, span.start,
            span.end);
  }
  result.ids = tokens.ids;
  for (int64_t token = tokens.begin; token < tokens.end; ++token) {
    result.rows.push_back(static_cast<int32_t>(token));
    result.classes.push_back(labels[static_cast<size_t>(tokens.cut + token - tokens.begin)]);
  }
  require(!result.rows.empty(), "{}: the text has no tokens", line.where);
}

void LabelledTexts::add_pair(const std::string& text, const std::string& pair,
                             data::LabelledText& result) const {
  const auto [ids, types] = tokenizer_.encode_pair(cased(text), cased(pair), settings_.limit.most);
  result.ids.insert(result.ids.end(), ids.begin(), ids.end());
  result.types.insert(result.types.end(), types.begin(), types.end());
}

void LabelledTexts::read_text(const LabelledLine& line, data::LabelledText& result) const {
  if (line.pair) {
    add_pair(line.text, *line.pair, result);
    for (const std::string& negative : line.negatives) {
      result.ends.push_back(static_cast<int32_t>(result.ids.size()));
      add_pair(line.text, negative, result);
    }
    if (!result.ends.empty()) result.ends.push_back(static_cast<int32_t>(result.ids.size()));
  } else {
    result.ids = tasks::ids_within(tokenizer_, cased(line.text), settings_.limit);
    result.types.resize(result.ids.size());
  }
  require(!result.ids.empty(), "{}: the text has no tokens", line.where);
}

data::LabelledText LabelledTexts::read(const LabelledLine& line) const {
  data::LabelledText result;
  if (config_.run.task == TaskKind::tag) {
    read_spans(line, result);
    return result;
  }
  read_text(line, result);
  if (!line.margins.empty()) {
    result.values = line.margins;
  } else if (config_.run.task != TaskKind::classify) {
    result.values = {static_cast<float>(line.score)};
  } else if (!config_.classify.multi_label) {
    result.classes = {label_number(names_, line.labels.front(), line.where)};
  } else {
    result.values.resize(names_.size());
    for (const std::string& label : line.labels)
      result.values[static_cast<size_t>(label_number(names_, label, line.where))] = 1;
  }
  return result;
}

std::vector<data::LabelledText> LabelledTexts::read(const std::vector<LabelledLine>& lines) const {
  std::vector<data::LabelledText> texts(lines.size());
  parallel_in_order(std::ssize(lines), kTextsPerTask, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      texts[i] = read(lines[i]);
  });
  return texts;
}

}  // namespace heed::train
