#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/json.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

enum Parameter : size_t { kEnsureAscii, kIndent, kSeparators, kSortKeys };

void read_indent(const Call& call, JsonLayout& layout) {
  const Value indent = call.value(kIndent);
  if (indent.is_none()) return;
  layout.lines = true;
  layout.item_separator = ",";
  if (indent.is_text()) {
    layout.indent = indent.text().bytes;
    return;
  }
  const int64_t width = std::max<int64_t>(call.integer(kIndent, 0), 0);
  if (width > 100) call.runtime.fail("tojson: an indent of {} is too wide", width);
  layout.indent.assign(static_cast<size_t>(width), ' ');
}

void read_separators(const Call& call, JsonLayout& layout) {
  if (call.value(kSeparators).is_none()) return;
  const std::vector<Value> parts = items_of(call.runtime, call.value(kSeparators));
  if (parts.size() != 2 || !parts[0].is_text() || !parts[1].is_text())
    call.runtime.fail("tojson: separators must be two strings");
  layout.item_separator = parts[0].text().bytes;
  layout.key_separator = parts[1].text().bytes;
}

Value to_json(Call& call) {
  JsonLayout layout;
  layout.ascii = call.flag(kEnsureAscii, false);
  layout.sort_keys = call.flag(kSortKeys, false);
  read_indent(call, layout);
  read_separators(call, layout);
  TextBuilder out(call.runtime.values);
  append_json(call.runtime, out, call.self, layout);
  return call.runtime.text(out.finish());
}

constexpr Builtin kJsonFilters[] = {
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", to_json},
};

}  // namespace

Builtins json_filters() { return kJsonFilters; }

}  // namespace heed::jinja
