#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/labelled_dataset.h"
#include "heed/model/config.h"
#include "heed/train/tasks/labels/labelled_lines.h"

namespace heed::train {

/// The names of the labels that a model learns from `lines`: those of classify.labels, or those of
/// `known`, a classifier of the same kind, if they include all that occur, otherwise these in
/// order. Labels of tag are "O", "B-KIND" and "I-KIND" for each kind of span. The tasks score and
/// rerank have one label. Throws Error when a line has a label that is not in classify.labels, and
/// when all texts have the same one.
std::vector<std::string> label_names(const TrainConfig& config,
                                     const std::vector<LabelledLine>& lines,
                                     const model::ClassifierConfig& known);

/// The number of a label, by its name or, if that is none and a number, by itself. Throws Error,
/// naming the line, on another.
int32_t label_number(std::span<const std::string> names, const std::string& label,
                     const std::string& where);

/// The weights of labels that classify.class_weights or classify.balance ask for: of n texts or
/// tokens, of which m have the label, n / (C m) as scikit-learn's "balanced", or (n - m) / m if
/// these have several. Throws Error when there is another number of weights than of labels, and
/// when there is no text with one of them to balance.
std::vector<float> label_weights(const ClassifyConfig& config, std::span<const std::string> names,
                                 std::span<const data::LabelledText> texts);

}  // namespace heed::train
