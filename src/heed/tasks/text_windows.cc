#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/inference_batches.h"
#include "heed/tasks/text_reader.h"
#include "heed/tasks/text_settings.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::tasks {
namespace {

/// Of all windows of a text: a large overlap repeats each token in many of them.
constexpr int64_t kMostWindowTokens = int64_t{1} << 24;

/// For each byte of a text as a tokenizer reads it, and for its end, the characters before it in
/// the text as it was: in lower case a character may have another number of bytes.
std::vector<int64_t> characters_before(const std::string& text, bool lower_case) {
  std::vector<int64_t> characters;
  std::string lower;
  int64_t count = 0;
  text::for_each_code_point(text, [&](const text::CodePoint& point, std::string_view bytes) {
    lower.clear();
    if (lower_case) text::append_lower_case(lower, point.value);
    characters.insert(characters.end(), lower_case ? lower.size() : bytes.size(), count++);
  });
  characters.push_back(count);
  return characters;
}

}  // namespace

int64_t TextReader::room(int64_t taken) const {
  require_input(window_ > taken,
                "window is {}, and special tokens and the prompt take {}: no room for the text",
                window_, taken);
  require_input(overlap_ < window_ - taken,
                "overlap is {}, expected less than {}: the tokens of a text in a window", overlap_,
                window_ - taken);
  return window_ - taken;
}

/// A token of the prompt that has characters of the text, too, belongs to the text.
std::vector<TextWindow> TextReader::windows(const std::string& text) const {
  const std::string whole = whole_text(text);
  const TextTokens all = tokens_within(tokenizer_, whole, {});
  const std::vector<text::TextSpan> spans = tokenizer_.encode_with_spans(whole).spans;
  const std::vector<int64_t> characters = characters_before(prompt_ + text, lower_case_);
  const auto before = static_cast<int64_t>(text::count_code_points(prompt_));
  // Of a character that is several in lower case a token may have a part.
  const auto end_of = [&](const text::TextSpan& span) {
    return span.end == 0 ? 0 : characters[span.end - 1] + 1;
  };
  const auto first_own = std::ranges::find_if(
      spans, [&](const text::TextSpan& span) { return end_of(span) > before; });
  const std::span own(first_own, spans.end());
  const int64_t begin = all.begin + (first_own - spans.begin()), count = std::ssize(own),
                size = room(std::ssize(all.ids) - count), stride = size - overlap_;
  const int64_t further = std::max<int64_t>(count - size + stride - 1, 0) / stride;
  require_input(further < kMostWindowTokens / window_,
                "the text has {} windows of {} tokens, {} in all, expected at most {}: a smaller "
                "overlap gives fewer",
                further + 1, window_, (further + 1) * window_, kMostWindowTokens);
  std::vector<TextWindow> windows;
  for (int64_t first = 0, last = 0; windows.empty() || last < count; first += stride) {
    last = std::min(first + size, count);
    TextWindow& window = windows.emplace_back();
    window.ids.assign(all.ids.begin(), all.ids.begin() + begin);
    window.ids.insert(window.ids.end(), all.ids.begin() + begin + first,
                      all.ids.begin() + begin + last);
    window.ids.insert(window.ids.end(), all.ids.begin() + begin + count, all.ids.end());
    window.tokens = last - first;
    if (window.tokens == 0) continue;
    const auto at = [&](int64_t i) { return own[static_cast<size_t>(i)]; };
    window.start = std::max<int64_t>(characters[at(first).begin] - before, 0);
    window.end = end_of(at(last - 1)) - before;
  }
  return windows;
}

std::vector<std::vector<TextWindow>> TextReader::read_windows(const std::vector<std::string>& texts,
                                                              int64_t first_number) const {
  std::vector<std::vector<TextWindow>> all(texts.size());
  data::read_inputs("text", texts.size(), first_number, [&](size_t i) {
    all[i] = windows(texts[i]);
    require_input(!all[i].front().ids.empty(), "no tokens");
  });
  return all;
}

}  // namespace heed::tasks
