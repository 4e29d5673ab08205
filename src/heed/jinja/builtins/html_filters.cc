#include "heed/jinja/values/html.h"

#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// str(value) with another flag.
Value with_markup(Runtime& runtime, const Value& value, bool markup) {
  const Value text = str_of(runtime, value);
  TextBuilder out(runtime.values);
  out.append(text.text());
  return runtime.text(out.finish(markup));
}

Value escaped(Runtime& runtime, const Value& text) {
  runtime.step_characters(text.text().bytes.size());
  TextBuilder out(runtime.values);
  append_escaped(out, text.text());
  return runtime.text(out.finish(true));
}

Value escape(Call& call) { return escaped(call.runtime, str_of(call.runtime, call.self)); }
Value safe(Call& call) { return with_markup(call.runtime, call.self, true); }

constexpr Builtin kHtmlFilters[] = {
    {"escape", "", escape},
    {"e", "", escape},
    {"safe", "", safe},
};

}  // namespace

Builtins html_filters() { return kHtmlFilters; }

}  // namespace heed::jinja
