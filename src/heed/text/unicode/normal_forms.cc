#include "heed/text/unicode/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Buffer = std::vector<utf8proc_int32_t>;

int combining_class(utf8proc_int32_t value) {
  if (value < 0x300 || is_inert(static_cast<char32_t>(value))) return 0;
  return utf8proc_get_property(value)->combining_class;
}

void append_decomposition(Buffer& buffer, char32_t value, bool compatible) {
  if (value < 0x80 || is_inert(value)) {
    buffer.push_back(static_cast<utf8proc_int32_t>(value));
    return;
  }
  // The longest decomposition, that of U+FDFA, has 18 code points.
  utf8proc_int32_t parts[32];
  int boundary = 0;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(value), parts, 32, options, &boundary);
  buffer.insert(buffer.end(), parts, parts + std::clamp<utf8proc_ssize_t>(count, 0, 32));
}

/// Whether a code point is not the first of those that one code point decomposes to.
using IsFurther = std::vector<bool>;

/// Puts each run of marks in the order of their combining classes; `further` moves with them. The
/// library's own sorting takes quadratic time on long runs.
void reorder_marks(Buffer& buffer, IsFurther& further) {
  struct Mark {
    int combining_class;
    utf8proc_int32_t value;
    bool further;
  };
  std::vector<Mark> marks;
  for (size_t begin = 0; begin < buffer.size(); ++begin) {
    marks.clear();
    for (size_t i = begin; i < buffer.size(); ++i) {
      const int of_mark = combining_class(buffer[i]);
      if (of_mark == 0) break;
      marks.push_back({of_mark, buffer[i], further[i]});
    }
    if (marks.size() > 1)
      std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return a.combining_class < b.combining_class;
      });
    for (const Mark& mark : marks) {
      further[begin] = mark.further;
      buffer[begin++] = mark.value;
    }
  }
}

/// Composes what lies between inert code points, which compose with nothing.
void compose(Buffer& buffer) {
  Buffer composed;
  composed.reserve(buffer.size());
  for (auto begin = buffer.begin(); begin != buffer.end();) {
    const auto end = std::find_if(begin, buffer.end(), [](utf8proc_int32_t value) {
      return value >= 0x300 && is_inert(static_cast<char32_t>(value));
    });
    const auto length = end - begin;
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    const auto kept =
        length > 0 ? utf8proc_normalize_utf32(&*begin, length, options) : utf8proc_ssize_t{0};
    composed.insert(composed.end(), begin, begin + kept);
    begin = end;
    if (begin != buffer.end()) composed.push_back(*begin++);
  }
  buffer = std::move(composed);
}

/// The end of the part of `text` that begins at `begin` and can be normalised on its own: no ASCII
/// character combines with what precedes it.
size_t end_of_part(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && (text[end] & 0x80) != 0) ++end;
  return end;
}

/// Says where the code points of a normal form come from, as `tokenizers` aligns them: the next one
/// comes from the next code point of the text, or, when it is a further one of a decomposition,
/// from the last. One that takes the place of n code points of the text takes them all.
class SourceFinder {
 public:
  /// `decomposed` is in the order of its marks; `code_points` says where those of the text begin.
  SourceFinder(const Buffer& decomposed, const IsFurther& further,
               const std::vector<size_t>& code_points)
      : decomposed_(decomposed),
        further_(further),
        code_points_(code_points),
        used_(decomposed.size()) {}

  /// Of the next code point of the normal form.
  size_t next(utf8proc_int32_t value) {
    while (first_ + 1 < used_.size() && used_[first_]) ++first_;
    Buffer parts;  // what it was composed of, maybe with marks between them
    append_decomposition(parts, static_cast<char32_t>(value), false);
    const bool inserted = further_[first_];
    size_t replaced = inserted ? 0 : 1, at = first_;
    used_[first_] = true;
    for (auto part = parts.begin() + 1; part < parts.end(); ++part) {
      while (at < used_.size() && (used_[at] || decomposed_[at] != *part)) ++at;
      if (at == used_.size()) break;
      used_[at] = true;
      replaced += further_[at] ? 0 : 1;
    }
    const size_t source = replaced == 0 ? std::max<size_t>(taken_, 1) - 1 : taken_;
    taken_ += replaced;
    return code_points_[std::min(source, code_points_.size() - 1)];
  }

 private:
  const Buffer& decomposed_;
  const IsFurther& further_;
  const std::vector<size_t>& code_points_;
  std::vector<bool> used_;        // of the decomposed ones
  size_t first_ = 0, taken_ = 0;  // the first that is not used; how many of the text
};

/// `sources`: as of normal_form(), for a part that begins at byte `begin`.
void append_form(std::string& result, std::string_view part, NormalForm form,
                 std::vector<size_t>* sources = nullptr, size_t begin = 0) {
  if (part.size() == 1) {
    result += part;
    if (sources != nullptr) sources->push_back(begin);
    return;
  }
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  Buffer buffer;
  IsFurther further;
  std::vector<size_t> code_points;  // of the part: where they begin
  for_each_code_point(part, [&](const CodePoint& point, std::string_view bytes) {
    append_decomposition(buffer, point.value, compatible);
    further.push_back(false);
    further.resize(buffer.size(), true);
    code_points.push_back(begin + static_cast<size_t>(bytes.data() - part.data()));
  });
  reorder_marks(buffer, further);
  const Buffer decomposed = sources != nullptr ? buffer : Buffer();
  if (form == NormalForm::nfc || form == NormalForm::nfkc) compose(buffer);
  SourceFinder finder(decomposed, further, code_points);
  for (const auto value : buffer) {
    append_utf8(result, static_cast<char32_t>(value));
    if (sources != nullptr) sources->resize(result.size(), finder.next(value));
  }
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form, size_t& at_start,
                        std::vector<size_t>* sources) {
  std::string result;
  result.reserve(text.size());
  size_t start_after = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_part(text, begin);
    if (begin < at_start && at_start < end) {
      std::string first = result;
      append_form(first, text.substr(begin, at_start - begin), form);
      start_after = first.size();
    }
    append_form(result, text.substr(begin, end - begin), form, sources, begin);
    if (end <= at_start) start_after = result.size();
    begin = end;
  }
  at_start = start_after;
  return result;
}

}  // namespace heed::text
