#include "heed/jinja/parser/attribute_path.h"

#include <charconv>

#include "heed/jinja/builtins/attributes.h"
#include "heed/jinja/values/case.h"
#include "heed/jinja/values/text_tools.h"

namespace heed::jinja {
namespace {

std::vector<Value> split_at(Runtime& runtime, const Value& text, std::string_view separator) {
  const Value by = runtime.text(separator);
  return split(runtime, text.text(), &by.text(), -1).items();
}

/// An int if it is all digits.
Value part_of(const Value& part) {
  const std::string& text = part.text().bytes;
  int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool digits =
      !text.empty() && text[0] != '-' && error == std::errc() && end == text.data() + text.size();
  return digits ? Value(index) : part;
}

}  // namespace

AttributePath::AttributePath(Runtime& runtime, const Value& path) {
  if (path.is_none()) return;
  if (!path.is_text()) {
    parts_.push_back(path);
    return;
  }
  for (const Value& part : split_at(runtime, path, ".")) parts_.push_back(part_of(part));
}

Value AttributePath::get(Runtime& runtime, Value value, const Value& otherwise) const {
  for (const Value& part : parts_) {
    value = get_item(runtime, value, part);
    if (value.is_undefined() && !otherwise.is_none()) value = otherwise;
  }
  return value;
}

std::vector<AttributePath> attribute_paths(Runtime& runtime, const Value& paths) {
  std::vector<AttributePath> result;
  if (!paths.is_text()) {
    result.emplace_back(runtime, paths);
    return result;
  }
  for (const Value& path : split_at(runtime, paths, ",")) result.emplace_back(runtime, path);
  return result;
}

Value without_case(Runtime& runtime, const Value& value) {
  if (!value.is_text()) return value;
  runtime.step_characters(value.text().bytes.size());
  return built(runtime, value.text(), [&](TextBuilder& out) { append_lower(out, value.text()); });
}

}  // namespace heed::jinja
