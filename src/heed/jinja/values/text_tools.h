#pragma once

#include <string_view>
#include <vector>

#include "heed/jinja/builtins/builtins.h"

/// What methods and filters of strings share.
namespace heed::jinja {

/// A text made by `append(builder)`; markup if `text` is.
template <typename Append>
Value built(Runtime& runtime, const Text& text, Append&& append) {
  runtime.step_bytes(2 * text.bytes.size());
  TextBuilder out(runtime.values);
  append(out);
  return runtime.text(out.finish(text.markup));
}

/// What strip() leaves; `characters` is the set to remove, or nullptr for white space.
Span stripped(const Text& text, const Text* characters, bool left, bool right);

/// str.replace(), the first `count` times; all if it is negative.
Value replaced(Runtime& runtime, const Text& text, const Text& old, const Text& replacement,
               int64_t count);

/// str.split() at `separator`; at white space if it is nullptr.
Value split(Runtime& runtime, const Text& text, const Text* separator, int64_t max_splits);
/// str.rsplit().
Value split_right(Runtime& runtime, const Text& text, const Text* separator, int64_t max_splits);
/// Lines without their ends, or with them.
std::vector<Span> lines_of(const Text& text, bool keep_ends);

/// separator.join(items)
Value joined(Runtime& runtime, const Text& separator, const std::vector<Value>& items);

}  // namespace heed::jinja
