#include "heed/inspect/attention/attention_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/inspect/attention/palette.h"
#include "heed/inspect/markup.h"

namespace heed::inspect {
namespace {

constexpr std::string_view kInk = "#1d2026", kSoft = "#5d636e", kFaint = "#9ba1ab";
constexpr double kTitleHeight = 46, kMargin = 16, kFontSize = 13;

/// The content of a figure of either kind.
struct Figure {
  const std::vector<std::string>& queries;
  const std::vector<std::string>& keys;
  std::string title, subtitle;
  Tensor weights;  // [Tq, Tk]
  std::string_view colour;
};

/// An upper estimate of a text's width in pixels; the font of the viewer is unknown.
double text_width(std::string_view text) { return 0.62 * kFontSize * width_of(text); }

double widest(const std::vector<std::string>& tokens) {
  double width = 40;
  for (const std::string& token : tokens) width = std::max(width, text_width(token));
  return width;
}

std::string document(const Figure& figure, double width, double height, const std::string& body) {
  const double texts = std::max(text_width(figure.title) * 1.2, text_width(figure.subtitle) * 0.85);
  const double whole = std::max(width, texts + 2 * kMargin);
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"{2}\" fill=\"{3}\">\n<title>{4}</title>\n",
      whole, height, kFontSize, kInk, escaped(figure.title));
  svg += fmt::format("<text x=\"{}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
                     kMargin, escaped(figure.title));
  svg += fmt::format("<text x=\"{}\" y=\"41\" font-size=\"11\" fill=\"{}\">{}</text>\n", kMargin,
                     kSoft, escaped(figure.subtitle));
  return svg + body + "</svg>\n";
}

/// A token, with the space mark in a paler colour.
std::string token_text(std::string_view token) {
  constexpr std::string_view kSpace = "\u2581";
  if (!token.starts_with(kSpace)) return escaped(token);
  return fmt::format("<tspan fill=\"{}\">{}</tspan>{}", kFaint, kSpace,
                     escaped(token.substr(kSpace.size())));
}

std::string label(double x, double y, std::string_view anchor, std::string_view token) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     token_text(token));
}

std::string lines_figure(const Figure& figure) {
  constexpr double kRow = 22, kGap = 220;
  constexpr float kMinWeight = 0.01f;
  const auto queries = static_cast<int64_t>(figure.queries.size());
  const auto keys = static_cast<int64_t>(figure.keys.size());
  const double left = kMargin + widest(figure.queries) + 8;
  const double right = left + kGap;
  const double top = kTitleHeight + 10;
  const auto y = [&](int64_t i) { return top + (static_cast<double>(i) + 0.5) * kRow; };

  std::string body =
      fmt::format("<g fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linecap=\"round\">\n",
                  figure.colour);
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < keys; ++k) {
      const float weight = figure.weights.data<float>()[q * keys + k];
      if (weight < kMinWeight) continue;
      fmt::format_to(std::back_inserter(body),
                     "<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" "
                     "stroke-opacity=\"{:.3f}\"/>\n",
                     left, y(q), left + kGap * 0.38, y(q), right - kGap * 0.38, y(k), right, y(k),
                     std::min(weight, 1.0f));
    }
  }
  body += "</g>\n";
  for (int64_t q = 0; q < queries; ++q)
    body += label(left - 8, y(q) + 4.5, "end", figure.queries[static_cast<size_t>(q)]);
  for (int64_t k = 0; k < keys; ++k)
    body += label(right + 8, y(k) + 4.5, "start", figure.keys[static_cast<size_t>(k)]);
  return document(figure, right + 8 + widest(figure.keys) + kMargin, y(std::max(queries, keys)) + 4,
                  body);
}

/// From white to dark blue by the square root of the weight, as in attention_page().
std::string shade(float weight) {
  constexpr std::array<std::array<int, 3>, 5> kStops = {
      {{250, 250, 250}, {198, 219, 243}, {107, 168, 222}, {33, 104, 182}, {8, 40, 96}}};
  const float position = std::sqrt(std::clamp(weight, 0.0f, 1.0f)) * (kStops.size() - 1);
  const size_t from = std::min(kStops.size() - 2, static_cast<size_t>(position));
  std::string colour = "#";
  for (size_t i = 0; i < 3; ++i) {
    const auto low = static_cast<float>(kStops[from][i]);
    const auto high = static_cast<float>(kStops[from + 1][i]);
    colour += fmt::format(
        "{:02x}",
        static_cast<int>(low + (high - low) * (position - static_cast<float>(from)) + 0.5f));
  }
  return colour;
}

std::string heatmap_figure(const Figure& figure) {
  constexpr double kCell = 22;
  constexpr float kMinWeight = 0.001f;
  const auto queries = static_cast<int64_t>(figure.queries.size());
  const auto keys = static_cast<int64_t>(figure.keys.size());
  const double left = kMargin + widest(figure.queries) + 8;
  const double top = kTitleHeight + 8 + widest(figure.keys);
  const auto at = [&](int64_t i) { return static_cast<double>(i) * kCell; };

  std::string body = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
      top, at(keys), at(queries), shade(0));
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < keys; ++k) {
      const float weight = figure.weights.data<float>()[q * keys + k];
      if (weight < kMinWeight) continue;
      fmt::format_to(std::back_inserter(body),
                     "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                     left + at(k), top + at(q), kCell - 1, kCell - 1, shade(weight));
    }
  }
  for (int64_t q = 0; q < queries; ++q)
    body += label(left - 8, top + at(q) + kCell / 2 + 4.5, "end",
                  figure.queries[static_cast<size_t>(q)]);
  for (int64_t k = 0; k < keys; ++k)
    body += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                        left + at(k) + kCell / 2 + 4.5, top - 8,
                        token_text(figure.keys[static_cast<size_t>(k)]));
  return document(figure, left + at(keys) + kMargin, top + at(queries) + kMargin, body);
}

/// "model: lines from target tokens (queries) to source tokens (keys)"
std::string subtitle(const AttentionTexts& texts, AttentionKind kind, AttentionFigure figure) {
  const bool both = !texts.source_tokens.empty() && !texts.target_tokens.empty();
  const auto tokens = [&](bool source) {
    return both ? fmt::format("{} tokens", source ? "source" : "target") : std::string("tokens");
  };
  const std::string query = tokens(kind == AttentionKind::encoder_self);
  const std::string key = tokens(kind != AttentionKind::decoder_self);
  const std::string model = texts.model_name.empty() ? "" : texts.model_name + ": ";
  if (figure == AttentionFigure::lines)
    return fmt::format("{}lines from {} (queries) to {} (keys)", model, query, key);
  return fmt::format("{}rows are {} (queries), columns are {} (keys)", model, query, key);
}

}  // namespace

std::string attention_svg(const AttentionTexts& texts, const HeadMap& map, AttentionFigure figure) {
  check(texts, map);
  const AttentionKind kind = map.choice.kind;
  const Figure parts{query_tokens(texts, kind),
                     key_tokens(texts, kind),
                     title_of(map),
                     subtitle(texts, kind, figure),
                     map.weights,
                     head_colour(map.choice.head.value_or(0))};
  require(parts.weights.cols() == std::ssize(parts.keys), "the map has {} of {} keys, expected all",
          parts.weights.cols(), parts.keys.size());
  return figure == AttentionFigure::lines ? lines_figure(parts) : heatmap_figure(parts);
}

}  // namespace heed::inspect
