#include "heed/inspect/attention_data.h"

#include <array>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/palette.h"
#include "heed/inspect/weight_code.h"

namespace heed::inspect {
namespace {

/// The weights of one head of one map and their encoded text.
struct Block {
  const AttentionMap* map = nullptr;
  int64_t head = 0;
  std::span<const float> weights;
  std::string text;
};

std::vector<Block> blocks_of(const AttentionCapture& capture) {
  std::vector<Block> blocks;
  for (const AttentionMap& map : capture.maps) {
    const int64_t heads = map.weights.shape()[0];
    const auto size = static_cast<size_t>(map.weights.elements() / heads);
    for (int64_t head = 0; head < heads; ++head)
      blocks.push_back({&map,
                        head,
                        map.weights.values<float>().subspan(static_cast<size_t>(head) * size, size),
                        {}});
  }
  return blocks;
}

template <typename Body>
void for_each_block(std::vector<Block>& blocks, const Body& body) {
  parallel_for(static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(blocks[static_cast<size_t>(i)]);
  });
}

/// The lowest floor with which the text of all blocks fits the budget, else kMaxFloor.
int floor_for(std::vector<Block>& blocks, int64_t budget) {
  std::array<std::atomic<int64_t>, kMaxFloor + 1> totals{};
  for_each_block(blocks, [&](Block& block) {
    const auto sizes = packed_sizes(block.weights);
    for (size_t floor = 0; floor < sizes.size(); ++floor) totals[floor] += sizes[floor];
  });
  int floor = 1;
  while (floor < kMaxFloor && totals[static_cast<size_t>(floor)] * 4 / 3 > budget) ++floor;
  return floor;
}

int64_t count_not_finite(const AttentionCapture& capture) {
  int64_t count = 0;
  for (const AttentionMap& map : capture.maps)
    for (const float weight : map.weights.values<float>()) count += !std::isfinite(weight);
  return count;
}

nlohmann::json printable_all(const std::vector<std::string>& tokens) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& token : tokens) list.push_back(printable(token));
  return list;
}

nlohmann::json description(const AttentionCapture& capture, int floor) {
  nlohmann::json maps = nlohmann::json::array();
  for (const AttentionMap& map : capture.maps)
    maps.push_back(
        {{"kind", name_of(map.kind)}, {"layer", map.layer}, {"heads", map.weights.shape()[0]}});
  return {{"source", printable_all(capture.source_tokens)},
          {"target", printable_all(capture.target_tokens)},
          {"floor", floor},
          {"missing", count_not_finite(capture)},
          {"colours", kHeadColours},
          {"maps", maps}};
}

}  // namespace

std::string attention_data(const AttentionCapture& capture, int64_t budget) {
  check(capture);
  std::vector<Block> blocks = blocks_of(capture);
  const int floor = floor_for(blocks, budget);
  for_each_block(blocks,
                 [&](Block& block) { block.text = base64(packed_weights(block.weights, floor)); });
  std::string html = fmt::format(
      "<div class=\"attention\" tabindex=\"0\">\n"
      "<script type=\"application/json\" class=\"capture\">{}</script>\n",
      json_in_html(description(capture, floor).dump(-1, ' ', true)));
  for (Block& block : blocks) {
    html += fmt::format("<script type=\"text/plain\" data-map=\"{}/{}/{}\">",
                        name_of(block.map->kind), block.map->layer, block.head);
    html += block.text;
    html += "</script>\n";
    block.text = {};
  }
  html += "</div>\n";
  return html;
}

}  // namespace heed::inspect
