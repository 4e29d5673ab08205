#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/labelled_dataset.h"
#include "heed/tasks/text_settings.h"
#include "heed/text/tokenizer.h"
#include "heed/train/tasks/labels/labelled_lines.h"

namespace heed::train {

/// Makes lines into tokens and what is known of them.
class LabelledTexts {
 public:
  /// `limit` tokens of a text are read at most, on the side that the settings say.
  LabelledTexts(const TrainConfig& config, const text::Tokenizer& tokenizer,
                std::span<const std::string> names, tasks::TextSettings settings);

  /// In order. Throws Error, naming the line, on a label that is not among the names, on a text
  /// without tokens, and on a span that covers none.
  std::vector<data::LabelledText> read(const std::vector<LabelledLine>& lines) const;

 private:
  data::LabelledText read(const LabelledLine& line) const;
  void read_text(const LabelledLine& line, data::LabelledText& result) const;
  void add_pair(const std::string& text, const std::string& pair, data::LabelledText& result) const;
  void read_spans(const LabelledLine& line, data::LabelledText& result) const;
  int32_t outside() const;
  std::string cased(const std::string& text) const;

  const TrainConfig& config_;
  const text::Tokenizer& tokenizer_;
  std::span<const std::string> names_;
  tasks::TextSettings settings_;
};

}  // namespace heed::train
