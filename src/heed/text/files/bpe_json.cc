#include "heed/text/files/bpe_json.h"

#include <nlohmann/json.hpp>

namespace heed::text {

nlohmann::json added_token_json(size_t id, std::string_view content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

nlohmann::json byte_level_step(bool add_prefix_space) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", false},
          {"use_regex", false}};
}

nlohmann::json byte_level_pre_tokenizer(const NamedSplit& split, bool add_prefix_space) {
  nlohmann::json steps = nlohmann::json::array();
  for (const std::string& pattern : split.patterns)
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", pattern}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back(byte_level_step(add_prefix_space));
  return sequence_step("pretokenizers", std::move(steps));
}

nlohmann::json sequence_step(const char* member, nlohmann::json steps) {
  return {{"type", "Sequence"}, {member, std::move(steps)}};
}

nlohmann::json replace_step(const char* from, const char* to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

nlohmann::json byte_fallback_decoder(bool strips_space) {
  nlohmann::json steps = {
      replace_step("\u2581", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (strips_space)
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return sequence_step("decoders", std::move(steps));
}

nlohmann::json bpe_model_json(const std::optional<std::string>& unknown, bool bytes,
                              bool ignore_merges) {
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", unknown ? nlohmann::json(*unknown) : nlohmann::json()},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", bytes},
          {"byte_fallback", bytes},
          {"ignore_merges", ignore_merges},
          {"vocab", nlohmann::json::object()},
          {"merges", nlohmann::json::array()}};
}

}  // namespace heed::text
