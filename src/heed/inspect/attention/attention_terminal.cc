#include "heed/inspect/attention/attention_terminal.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/display.h"
#include "heed/base/error.h"

namespace heed::inspect {
namespace {

constexpr int kNumberWidth = 4, kShadeWidth = 2, kMaxLabelHeight = 12;

constexpr int kMinColumns = 20;

/// Widths in columns of a terminal.
struct Layout {
  int label = 0;      // width of the row labels in columns
  int cell = 0;       // width of a cell in columns
  int64_t shown = 0;  // number of cells per row that fit
};

Layout layout_of(const AttentionTexts& texts, AttentionKind kind, int columns) {
  const auto keys = static_cast<int64_t>(key_tokens(texts, kind).size());
  columns = std::max(columns, kMinColumns);
  Layout layout;
  for (const std::string& token : query_tokens(texts, kind))
    layout.label = std::max(layout.label, width_of(token));
  layout.label = std::min({layout.label, 18, columns / 3});
  const int room = columns - layout.label - 1;
  layout.cell = keys * kNumberWidth <= room ? kNumberWidth : kShadeWidth;
  layout.shown = std::min<int64_t>(keys, room / layout.cell);
  return layout;
}

/// The column labels, written vertically and aligned at the bottom.
std::string column_labels(const std::vector<std::string>& keys, const Layout& layout) {
  std::vector<std::u32string> labels;
  size_t height = 0;
  for (int64_t k = 0; k < layout.shown; ++k) {
    std::u32string letters;
    for (const char32_t c : code_points(cut(keys[static_cast<size_t>(k)], kMaxLabelHeight)))
      if (columns_of(c) > 0) letters += c;
    height = std::max(height, letters.size());
    labels.push_back(letters);
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    text.append(static_cast<size_t>(layout.label) + 1, ' ');
    for (const std::u32string& letters : labels) {
      const size_t above = height - letters.size();
      const char32_t letter = line < above ? U' ' : letters[line - above];
      const int before = layout.cell == kNumberWidth ? 2 : 0;
      text.append(static_cast<size_t>(before), ' ');
      text += utf8(letter);
      text.append(static_cast<size_t>(layout.cell - before - columns_of(letter)), ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string cell_text(float weight, int width) {
  const int percent = static_cast<int>(std::lround(100.0f * weight));
  if (width == kNumberWidth) return percent > 0 ? fmt::format("{:>3} ", percent) : "  . ";
  return std::string(static_cast<size_t>(width), ' ');
}

std::string plain_cell(float weight, int width) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  if (width == kNumberWidth) return cell_text(weight, width);
  const auto shade = static_cast<size_t>(std::sqrt(weight) * (kShades.size() - 1) + 0.5f);
  return std::string(static_cast<size_t>(width), kShades[shade]);
}

std::string coloured_cell(float weight, int width) {
  constexpr std::array<int, 12> kShades = {234, 17, 18, 24, 25, 31, 32, 38, 74, 117, 153, 231};
  const auto shade = static_cast<size_t>(std::sqrt(weight) * (kShades.size() - 1) + 0.5f);
  return fmt::format("\x1b[48;5;{};38;5;{}m{}", kShades[shade], shade < 7 ? 252 : 16,
                     cell_text(weight, width));
}

std::string row(const std::string& token, const float* weights, const Layout& layout, bool color) {
  const std::string name = cut(token, layout.label);
  std::string text(static_cast<size_t>(layout.label - width_of(name)), ' ');
  text += name + ' ';
  for (int64_t k = 0; k < layout.shown; ++k) {
    const float weight = std::clamp(weights[k], 0.0f, 1.0f);
    text += color ? coloured_cell(weight, layout.cell) : plain_cell(weight, layout.cell);
  }
  return text + (color ? "\x1b[0m\n" : "\n");
}

}  // namespace

int64_t keys_shown(const AttentionTexts& texts, AttentionKind kind, int columns) {
  return layout_of(texts, kind, columns).shown;
}

std::string attention_terminal(const AttentionTexts& texts, const HeadMap& map, int columns,
                               bool color) {
  check(texts, map);
  const std::vector<std::string>& queries = query_tokens(texts, map.choice.kind);
  const std::vector<std::string>& keys = key_tokens(texts, map.choice.kind);
  const auto count = static_cast<int64_t>(keys.size());
  const int width = std::max(columns, kMinColumns);
  const Layout layout = layout_of(texts, map.choice.kind, width);
  require(map.weights.cols() >= layout.shown, "the map has {} of {} keys, expected {}",
          map.weights.cols(), count, layout.shown);

  std::string text = cut(title_of(map), width) + '\n';
  text += cut(layout.cell == kNumberWidth
                  ? "rows: query tokens, columns: key tokens, weights in percent"
                  : "rows: query tokens, columns: key tokens",
              width) +
          "\n\n";
  text += column_labels(keys, layout);
  for (size_t q = 0; q < queries.size() && count > 0; ++q)
    text +=
        row(queries[q], map.weights.data<float>() + static_cast<int64_t>(q) * map.weights.cols(),
            layout, color);
  if (queries.empty() || count == 0) text += cut("there are no tokens to show", width) + '\n';
  if (layout.shown < count)
    text += cut(fmt::format("{} of {} columns omitted: the terminal is too narrow",
                            count - layout.shown, count),
                width) +
            '\n';
  return text;
}

}  // namespace heed::inspect
