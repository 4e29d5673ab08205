#include <utf8proc.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/base64.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/charsmap.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

/// The end of the grapheme cluster (Unicode annex 29) at `begin`.
size_t end_of_grapheme(std::string_view text, size_t begin) {
  utf8proc_int32_t state = 0;
  CodePoint point = code_point_at(text, begin);
  size_t end = begin + point.length;
  while (end < text.size()) {
    const CodePoint next = code_point_at(text, end);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(point.value),
                                         static_cast<utf8proc_int32_t>(next.value), &state))
      break;
    point = next;
    end += next.length;
  }
  return end;
}

/// Applies the table of a SentencePiece model as `tokenizers` does: when a key is the beginning of
/// a short grapheme cluster, its replacement replaces the whole cluster.
class Precompiled : public Normalizer {
 public:
  Precompiled(std::string charsmap, const std::string& file) : map_(std::move(charsmap), file) {}

  void change(NormalizedText& text, size_t max_size) const override {
    constexpr size_t kLongestCluster = 5;  // bytes
    Output output{text, max_size};
    for (size_t begin = 0; begin < text.text.size();) {
      const size_t end = end_of_grapheme(text.text, begin);
      const std::string_view cluster = std::string_view(text.text).substr(begin, end - begin);
      begin = end;
      if (cluster.size() <= kLongestCluster) {
        if (const auto match = map_.shortest(cluster)) {
          output.replace(count_code_points(cluster), match->replacement);
          continue;
        }
      }
      for_each_code_point(cluster, [&](const CodePoint&, std::string_view bytes) {
        const auto match = map_.shortest(bytes);
        output.replace(1, match ? match->replacement : bytes);
      });
    }
    text = std::move(output.result);
  }

 private:
  /// The new text, and the counts that its alignments are derived from.
  struct Output {
    Output(const NormalizedText& from, size_t max_bytes)
        : source_start(count_code_points(from.text.substr(0, from.at_start))), max_size(max_bytes) {
      result.text.reserve(from.text.size());
      if (from.alignments.empty()) return;
      size_t position = 0;
      for_each_code_point(from.text, [&](const CodePoint& point, std::string_view) {
        alignments.push_back(from.alignments[position]);
        position += point.length;
      });
    }

    NormalizedText result;
    size_t source = 0, source_start, written = 0;  // in code points
    size_t max_size;
    size_t last = 0;                   // where the last new code point begins
    bool surplus = false;              // whether it is a surplus one
    std::vector<TextSpan> alignments;  // of the old code points

    /// The i-th new code point comes from the i-th old one; surplus new ones come from the last old
    /// one. Surplus old ones yield nothing, and are counted only after something was written: then
    /// a surplus new one before them comes from the first of them.
    void replace(size_t old_count, std::string_view with) {
      std::string& text = result.text;
      check_text_size(text.size() + with.size(), max_size);
      size_t fresh = 0;
      for_each_code_point(with, [&](const CodePoint&, std::string_view bytes) {
        surplus = fresh >= old_count;
        const size_t stands_for = surplus ? source - 1 : source++;
        last = text.size();
        text += bytes;
        ++fresh;
        ++written;
        if (stands_for < source_start) result.at_start = text.size();
        if (!alignments.empty()) result.alignments.resize(text.size(), alignments[stands_for]);
      });
      if (fresh >= old_count || written == 0) return;
      if (surplus && !alignments.empty())
        std::fill(result.alignments.begin() + static_cast<std::ptrdiff_t>(last),
                  result.alignments.end(), alignments[source]);
      surplus = false;
      source += old_count - fresh;
    }
  };

  Charsmap map_;
};

/// Applies the table as the SentencePiece library does: the longest key at each position.
class LongestKeys : public Normalizer {
 public:
  LongestKeys(std::string charsmap, const std::string& file) : map_(std::move(charsmap), file) {}

  void change(NormalizedText& text, size_t max_size) const override {
    const std::string_view all = text.text;
    NormalizedText result;
    result.text.reserve(all.size());
    for (size_t begin = 0; begin < all.size();) {
      const bool of_start = begin < text.at_start;
      const auto match = map_.longest(all.substr(begin));
      // A key must not end inside a code point.
      const size_t after = match ? begin + match->size : 0;
      const bool whole = match && (after == all.size() || !is_continuation(all[after]));
      const size_t size = whole ? match->size : code_point_at(all, begin).length;
      result.text += whole ? match->replacement : all.substr(begin, size);
      check_text_size(result.text.size(), max_size);
      take_alignment(text, begin, result);
      begin += size;
      if (of_start) result.at_start = result.text.size();
    }
    text = std::move(result);
  }

 private:
  Charsmap map_;
};

}  // namespace

std::unique_ptr<Normalizer> make_longest_keys(std::string charsmap, const std::string& file) {
  return std::make_unique<LongestKeys>(std::move(charsmap), file);
}

std::unique_ptr<Normalizer> make_precompiled(std::string charsmap, const std::string& file) {
  return std::make_unique<Precompiled>(std::move(charsmap), file);
}

std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& json, const std::string& file) {
  const auto bytes = decode_base64(get<std::string>(json, "precompiled_charsmap", file));
  require(bytes.has_value(), "{}: precompiled_charsmap is not base64", file);
  return make_precompiled(*bytes, file);
}

}  // namespace heed::text
