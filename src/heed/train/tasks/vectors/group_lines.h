#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/fingerprint.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// What a line says of texts that are compared with each other.
struct GroupLine {
  std::string where;               // "FILE, line 3"
  std::vector<std::string> texts;  // query, document and negatives; or two texts; or one
  std::vector<float> scores = {};  // see data::TextGroups
};

struct GroupLines {
  std::vector<GroupLine> lines;
  data::Fingerprint fingerprint;
};

/// The lines of a file for the loss of embed.loss; docs/training_encoders.md lists their fields.
/// Throws Error, naming the line, on one that lacks a field or has an empty text or a score that is
/// not a number.
GroupLines read_group_lines(const std::filesystem::path& path, const EmbedConfig& config);

}  // namespace heed::train
