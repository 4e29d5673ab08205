#include <algorithm>
#include <charconv>

#include "heed/base/quote.h"
#include "heed/jinja/builtins/format.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/html.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// text.format(...)
class BraceFormat {
 public:
  BraceFormat(Runtime& runtime, const Text& text, const Arguments& arguments)
      : runtime_(runtime), text_(text), arguments_(arguments) {}

  Text run() {
    const std::string& bytes = text_.bytes;
    runtime_.step_bytes(2 * bytes.size());
    TextBuilder out(runtime_.values);
    for (size_t at = 0; at < bytes.size();) {
      const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
      out.append(text_, at, brace);
      if (brace == bytes.size()) break;
      at = brace + 1;
      if (at < bytes.size() && bytes[at] == bytes[brace]) {
        out.append(text_, brace, at++);
        continue;
      }
      if (bytes[brace] == '}') runtime_.fail("Single '}}' encountered in format string");
      const size_t close = bytes.find('}', at);
      if (close == std::string::npos) runtime_.fail("expected '}}' before end of string");
      append(out, argument(std::string_view(bytes).substr(at, close - at)));
      at = close + 1;
    }
    return out.finish(text_.markup);
  }

 private:
  Value argument(std::string_view name) {
    if (name.find_first_of("{.[!:") != std::string_view::npos)
      runtime_.fail("format(): the field {} is not supported, only a number or a name",
                    quoted(name));
    size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool numbered = error == std::errc() && end == name.data() + name.size();
    if (name.empty() || numbered) {
      if (automatic_ && *automatic_ != name.empty())
        runtime_.fail("cannot mix manual field specification and automatic field numbering");
      automatic_ = name.empty();
      if (name.empty()) index = next_++;
      if (index >= arguments_.positional.size())
        runtime_.fail("Replacement index {} out of range for positional args tuple", index);
      return arguments_.positional[index];
    }
    const Value* found = arguments_.keyword(name);
    if (found == nullptr)
      runtime_.fail("the format names an argument {} that is not given", quoted(name));
    return *found;
  }

  void append(TextBuilder& out, const Value& value) {
    const Value text = str_of(runtime_, value);
    runtime_.step_bytes(text.text().bytes.size());
    if (text_.markup)
      append_escaped(out, text.text());
    else
      out.append(text.text());
  }

  Runtime& runtime_;
  const Text& text_;
  const Arguments& arguments_;
  std::optional<bool> automatic_;  // fields are numbered automatically
  size_t next_ = 0;
};

}  // namespace

Value format_braces(Runtime& runtime, const Text& text, const Arguments& arguments) {
  return runtime.text(BraceFormat(runtime, text, arguments).run());
}

}  // namespace heed::jinja
