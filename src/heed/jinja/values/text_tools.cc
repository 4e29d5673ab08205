#include "heed/jinja/values/text_tools.h"

#include <algorithm>
#include <limits>

#include "heed/base/utf8.h"
#include "heed/jinja/values/html.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

size_t limit_of(int64_t max_splits) {
  return max_splits < 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(max_splits);
}

Value slices(Runtime& runtime, const Text& text, const std::vector<Span>& spans) {
  std::vector<Value> parts;
  for (const Span& span : spans) parts.push_back(runtime.slice(text, span.begin, span.end));
  return runtime.list(std::move(parts));
}

/// Words between white space, at most `limit`, and then what is left of the text.
std::vector<Span> words(const Text& text, size_t limit) {
  std::vector<Span> found;
  size_t begin = std::string::npos;  // of the word
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    const bool space = is_space(c.value);
    if (space && begin != std::string::npos)
      found.push_back({std::exchange(begin, std::string::npos), c.begin});
    if (space || begin != std::string::npos) continue;
    begin = c.begin;
    if (found.size() < limit) continue;
    found.push_back({begin, stripped(text, nullptr, false, true).end});
    return found;
  }
  if (begin != std::string::npos) found.push_back({begin, text.bytes.size()});
  return found;
}

std::vector<Span> words_from_right(const Text& text, size_t limit) {
  std::vector<Span> all = words(text, std::numeric_limits<size_t>::max());
  if (all.size() <= limit) return all;
  const size_t first = all.size() - limit - 1;
  const Span rest{all.front().begin, all[first].end};
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  // What is before the last words keeps the white space on its left out, as rsplit() does not.
  all.front() = {0, rest.end};
  return all;
}

void require_separator(Runtime& runtime, const Text& separator) {
  if (separator.bytes.empty()) runtime.fail("empty separator");
}

}  // namespace

Span stripped(const Text& text, const Text* characters, bool left, bool right) {
  const std::string_view bytes = text.bytes;
  const auto removes = [&](size_t begin, size_t end) {
    if (characters == nullptr) return is_space(code_point_at(bytes, begin).value);
    return characters->bytes.find(bytes.substr(begin, end - begin)) != std::string::npos;
  };
  Span span{0, bytes.size()};
  while (left && span.begin < span.end) {
    const size_t end = span.begin + code_point_at(bytes, span.begin).length;
    if (!removes(span.begin, end)) break;
    span.begin = end;
  }
  while (right && span.begin < span.end) {
    const size_t begin = code_point_begin(bytes, span.end - 1);
    if (!removes(begin, span.end)) break;
    span.end = begin;
  }
  return span;
}

Value replaced(Runtime& runtime, const Text& text, const Text& old, const Text& replacement,
               int64_t count) {
  size_t left = limit_of(count);
  return built(runtime, text, [&](TextBuilder& out) {
    size_t at = 0;
    if (old.bytes.empty()) {  // before each character and at the end
      for (CharacterReader reader(text); !reader.done() && left > 0; --left) {
        const Character c = reader.next();
        runtime.step_bytes(replacement.bytes.size());
        out.append(replacement);
        out.append(text, c.begin, c.end);
        at = c.end;
      }
      if (left > 0) out.append(replacement);
    }
    while (!old.bytes.empty() && left-- > 0) {
      const size_t found = text.bytes.find(old.bytes, at);
      if (found == std::string::npos) break;
      runtime.step_bytes(replacement.bytes.size());
      out.append(text, at, found);
      out.append(replacement);
      at = found + old.bytes.size();
    }
    out.append(text, at, text.bytes.size());
  });
}

Value split(Runtime& runtime, const Text& text, const Text* separator, int64_t max_splits) {
  runtime.step_bytes(2 * text.bytes.size());
  const size_t limit = limit_of(max_splits);
  if (separator == nullptr) runtime.step_characters(text.bytes.size());
  if (separator == nullptr) return slices(runtime, text, words(text, limit));
  require_separator(runtime, *separator);
  std::vector<Value> parts;
  size_t at = 0;
  while (parts.size() < limit) {
    const size_t found = text.bytes.find(separator->bytes, at);
    if (found == std::string::npos) break;
    parts.push_back(runtime.slice(text, at, found));
    at = found + separator->bytes.size();
  }
  parts.push_back(runtime.slice(text, at, text.bytes.size()));
  return runtime.list(std::move(parts));
}

Value split_right(Runtime& runtime, const Text& text, const Text* separator, int64_t max_splits) {
  runtime.step_bytes(2 * text.bytes.size());
  const size_t limit = limit_of(max_splits);
  if (separator == nullptr) runtime.step_characters(text.bytes.size());
  if (separator == nullptr) return slices(runtime, text, words_from_right(text, limit));
  require_separator(runtime, *separator);
  std::vector<Value> parts;
  size_t end = text.bytes.size();
  while (parts.size() < limit && end >= separator->bytes.size()) {
    const size_t found = text.bytes.rfind(separator->bytes, end - separator->bytes.size());
    if (found == std::string::npos) break;
    parts.push_back(runtime.slice(text, found + separator->bytes.size(), end));
    end = found;
  }
  parts.push_back(runtime.slice(text, 0, end));
  std::reverse(parts.begin(), parts.end());
  return runtime.list(std::move(parts));
}

std::vector<Span> lines_of(const Text& text, bool keep_ends) {
  std::vector<Span> lines;
  size_t begin = 0;
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    if (!is_line_end(c.value)) continue;
    size_t end = c.end;
    if (c.value == '\r' && text.bytes.compare(end, 1, "\n") == 0) {
      reader.next();
      ++end;
    }
    lines.push_back({begin, keep_ends ? end : c.begin});
    begin = end;
  }
  if (begin < text.bytes.size()) lines.push_back({begin, text.bytes.size()});
  return lines;
}

Value joined(Runtime& runtime, const Text& separator, const std::vector<Value>& items) {
  TextBuilder out(runtime.values);
  const auto append = [&](const Text& text) {
    runtime.step_bytes(text.bytes.size());
    append_part(out, text, separator.markup);
  };
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) append(separator);
    if (!items[i].is_text())
      runtime.fail("sequence item {}: expected str instance, {} found", i, type_name(items[i]));
    append(items[i].text());
  }
  return runtime.text(out.finish(separator.markup));
}

}  // namespace heed::jinja
