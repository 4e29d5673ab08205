#include "heed/jinja/values/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/utf8.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/compare.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

using Json = nlohmann::ordered_json;

Value text_from_json(Runtime& runtime, const std::string& text, bool input) {
  if (!is_valid_utf8(text)) runtime.fail("a string of the context is not valid UTF-8");
  return runtime.text(text, input);
}

Value integer_from_json(Runtime& runtime, const Json& json) {
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()})
    runtime.fail("an integer of the context does not fit into 64 bits");
  return Value(json.get<int64_t>());
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, TextBuilder& out, const JsonLayout& layout)
      : runtime_(runtime), out_(out), layout_(layout) {}

  void value(const Value& value) {
    const Runtime::Level level(runtime_);
    runtime_.step();
    if (value.is_text())
      text(value.text());
    else if (value.is_sequence())
      list(value.items());
    else if (value.is_dict())
      dict(value.dict());
    else
      out_.append(scalar(value));
  }

 private:
  std::string scalar(const Value& value) const {
    if (value.is_none()) return "null";
    if (value.is_bool()) return value.boolean() ? "true" : "false";
    if (value.is_int()) return std::to_string(*value.integer());
    if (!value.is_float())
      runtime_.fail("Object of type {} is not JSON serializable", type_name(value));
    const double real = value.real();
    if (std::isnan(real)) return "NaN";
    if (std::isinf(real)) return real < 0 ? "-Infinity" : "Infinity";
    return repr_of(real);
  }

  void character(const Text& text, const Character& c) {
    constexpr std::string_view kSpecial = "\"\\\n\r\t\f\b";
    constexpr std::string_view kLetters = "\"\\nrtfb";
    const auto number = static_cast<uint32_t>(c.value);
    const size_t special =
        number < 0x80 ? kSpecial.find(static_cast<char>(number)) : std::string_view::npos;
    if (special != std::string_view::npos)
      out_.append(std::string{'\\', kLetters[special]}, c.input);
    else if (number >= 0x10000 && layout_.ascii)
      out_.append(fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((number - 0x10000) >> 10),
                              0xDC00 + ((number - 0x10000) & 0x3FF)),
                  c.input);
    else if (number < 0x20 || (number > 0x7E && layout_.ascii))
      out_.append(fmt::format("\\u{:04x}", number), c.input);
    else
      out_.append(text, c.begin, c.end);
  }

  void text(const Text& text) {
    runtime_.step_characters(text.bytes.size());
    out_.append("\"");
    for (CharacterReader reader(text); !reader.done();) character(text, reader.next());
    out_.append("\"");
  }

  void line() {
    if (!layout_.lines) return;
    out_.append("\n");
    for (int i = 0; i < level_; ++i) out_.append(layout_.indent);
  }
  void separator(bool first) {
    if (!first) out_.append(layout_.item_separator);
    line();
  }
  void close(std::string_view bracket) {
    --level_;
    line();
    out_.append(bracket);
  }

  void list(const std::vector<Value>& items) {
    if (items.empty()) return out_.append("[]");
    out_.append("[");
    ++level_;
    for (const Value& item : items) {
      separator(&item == &items.front());
      value(item);
    }
    close("]");
  }

  void key(const Value& key) {
    if (key.is_text()) return text(key.text());
    if (!key.is_none() && !key.is_number())
      runtime_.fail("keys must be str, int, float, bool or None, not {}", type_name(key));
    out_.append("\"" + scalar(key) + "\"");
  }

  void dict(const Dict& dict) {
    if (dict.size() == 0) return out_.append("{}");
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (layout_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const Dict::Entry* left, const Dict::Entry* right) {
                         return less(runtime_, left->first, right->first);
                       });
    out_.append("{");
    ++level_;
    for (const Dict::Entry* entry : entries) {
      separator(entry == entries.front());
      key(entry->first);
      out_.append(layout_.key_separator);
      value(entry->second);
    }
    close("}");
  }

  Runtime& runtime_;
  TextBuilder& out_;
  const JsonLayout& layout_;
  int level_ = 0;
};

}  // namespace

Value from_json(Runtime& runtime, const Json& json, bool input) {
  runtime.step();
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return integer_from_json(runtime, json);
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return text_from_json(runtime, json.get_ref<const std::string&>(), input);
    case Json::value_t::array: {
      std::vector<Value> items;
      for (const Json& item : json) items.push_back(from_json(runtime, item, input));
      return runtime.list(std::move(items));
    }
    case Json::value_t::object: {
      Dict dict;
      for (const auto& [key, value] : json.items())
        dict.set(runtime, text_from_json(runtime, key, input), from_json(runtime, value, input));
      return runtime.dict(std::move(dict));
    }
    default:
      return Value::none();
  }
}

void append_json(Runtime& runtime, TextBuilder& out, const Value& value, const JsonLayout& layout) {
  JsonWriter(runtime, out, layout).value(value);
}

}  // namespace heed::jinja
