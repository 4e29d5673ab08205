#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/fingerprint.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// A part of a text in characters (Unicode code points), and its kind.
struct LabelledSpan {
  int64_t start = 0, end = 0;
  std::string label;
};

/// What a line says of a text, or of a pair of texts.
struct LabelledLine {
  std::string where;  // "FILE, line 3"
  std::string text;
  std::optional<std::string> pair = {};
  std::vector<std::string> labels = {};     // of classify
  double score = 0;                         // of score and rerank
  std::vector<LabelledSpan> spans = {};     // of tag, in order
  std::vector<std::string> negatives = {};  // of rerank with margin_mse: other second texts
  std::vector<float> margins = {};          // and by how much `pair` is better than each
};

struct LabelledLines {
  std::vector<LabelledLine> lines;
  data::Fingerprint fingerprint;
};

/// The lines of a file for a task that gives labels; docs/training_encoders.md lists their fields.
/// Throws Error, naming the line, on one that lacks a field or has an empty text, a score that is
/// not a number, or spans that overlap or lie outside of the text.
LabelledLines read_labelled_lines(const std::filesystem::path& path, const TrainConfig& config);

}  // namespace heed::train
