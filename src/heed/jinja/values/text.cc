#include "heed/jinja/values/text.h"

#include <algorithm>

#include "heed/base/utf8.h"

namespace heed::jinja {
namespace {}  // namespace

size_t Text::byte_of(size_t index) const {
  if (is_ascii()) return std::min(index, bytes.size());
  for (size_t at = 0; at < bytes.size(); ++at)
    if (!is_continuation(bytes[at]) && index-- == 0) return at;
  return bytes.size();
}

Character CharacterReader::next() {
  const CodePoint point = code_point_at(text_.bytes, at_);
  while (span_ < text_.input.size() && text_.input[span_].end <= at_) ++span_;
  const bool input = span_ < text_.input.size() && text_.input[span_].begin <= at_;
  const size_t begin = at_;
  at_ += point.length;
  return {point.value, begin, at_, input};
}

void TextBuilder::reserve(size_t more) {
  const size_t needed = bytes_.size() + more;
  if (needed <= bytes_.capacity()) return;
  const size_t capacity = std::max(needed, bytes_.capacity() + bytes_.capacity() / 2);
  charge_.add(capacity - bytes_.capacity());
  bytes_.reserve(capacity);
}

void TextBuilder::append(std::string_view bytes, bool input) {
  if (bytes.empty()) return;
  reserve(bytes.size());
  const size_t begin = bytes_.size();
  bytes_.append(bytes);
  if (!input) return;
  if (!input_.empty() && input_.back().end == begin) {
    input_.back().end = bytes_.size();
    return;
  }
  charge_.add(sizeof(Span));
  input_.push_back({begin, bytes_.size()});
}

void TextBuilder::append(const Text& text, size_t begin, size_t end) {
  const std::string_view bytes = text.bytes;
  auto span = std::upper_bound(text.input.begin(), text.input.end(), begin,
                               [](size_t at, const Span& other) { return at < other.end; });
  reserve(end - begin);
  for (size_t at = begin; at < end;) {
    const bool more = span != text.input.end();
    const bool input = more && span->begin <= at;
    const size_t until = !more ? end : std::min(end, input ? span->end : span->begin);
    append(bytes.substr(at, until - at), input);
    if (input) ++span;
    at = until;
  }
}

Text TextBuilder::finish(bool markup) {
  Text text{.bytes = std::move(bytes_), .input = std::move(input_), .markup = markup};
  text.length = count_code_points(text.bytes);
  text.charge = std::move(charge_);
  return text;
}

}  // namespace heed::jinja
