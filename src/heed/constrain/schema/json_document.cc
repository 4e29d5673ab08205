#include "heed/constrain/schema/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/decimal.h"

namespace heed::constrain {

/// Receives the parser's events. It keeps the containers that are open itself: the parser's own
/// values would be freed recursively.
class JsonDocumentReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonDocumentReader(JsonDocument& document, std::string_view what, JsonId max_size)
      : document_(document), what_(what), max_size_(max_size) {}

  bool null() override { return add({}), true; }
  bool boolean(bool value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kBoolean;
    node.boolean = value;
    return add(std::move(node)), true;
  }
  bool number_integer(number_integer_t value) override { return number(fmt::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(fmt::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return number(text); }
  bool string(string_t& value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kString;
    node.text = std::move(value);
    return add(std::move(node)), true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonNode::Kind::kObject); }
  bool end_object() override { return close_object(); }
  bool start_array(size_t) override { return open(JsonNode::Kind::kArray); }
  bool end_array() override { return open_.pop_back(), true; }
  bool key(string_t& value) override { return key_ = std::move(value), true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    std::string_view message = error.what();
    message.remove_prefix(std::min(message.size(), message.find("] ") + 2));
    fail("{} is not JSON: byte {}: {}", what_, position, one_line(message));
  }

 private:
  bool number(std::string text) {
    JsonNode node;
    node.kind = JsonNode::Kind::kNumber;
    node.text = std::move(text);
    return add(std::move(node)), true;
  }

  bool open(JsonNode::Kind kind) {
    require(open_.size() < JsonDocument::kMaxDepth, "{} has more than {} levels", what_,
            JsonDocument::kMaxDepth);
    JsonNode node;
    node.kind = kind;
    open_.push_back(add(std::move(node)));
    return true;
  }

  bool close_object() {
    const JsonId id = open_.back();
    JsonNode& object = document_.nodes_[static_cast<size_t>(id)];
    object.by_name.resize(object.members.size());
    std::iota(object.by_name.begin(), object.by_name.end(), 0U);
    const auto name = [&object](uint32_t position) -> const std::string& {
      return object.members[position].first;
    };
    std::ranges::sort(object.by_name, {}, name);
    const auto twice = std::ranges::adjacent_find(object.by_name, {}, name);
    if (twice != object.by_name.end()) {
      fail("{} has {} twice in the object at {}", what_, quoted(name(*twice)),
           quoted(document_.pointer(id)));
    }
    open_.pop_back();
    return true;
  }

  JsonId add(JsonNode node) {
    const JsonId id = document_.size();
    require(id < max_size_, "{} has more than {} values", what_, max_size_);
    if (!open_.empty()) {
      JsonNode& parent = document_.nodes_[static_cast<size_t>(open_.back())];
      node.parent = open_.back();
      if (parent.is_array()) {
        node.key = fmt::to_string(parent.items.size());
        parent.items.push_back(id);
      } else {
        node.key = key_;
        parent.members.emplace_back(std::move(key_), id);
      }
    }
    document_.nodes_.push_back(std::move(node));
    return id;
  }

  JsonDocument& document_;
  std::string_view what_;
  JsonId max_size_;
  std::vector<JsonId> open_;
  std::string key_;
};

JsonId JsonDocument::read(std::string_view text, std::string_view what, JsonId max_size) {
  const JsonId root = size();
  JsonDocumentReader reader(*this, what, max_size);
  nlohmann::json::sax_parse(text, &reader);
  return root;
}

JsonId JsonDocument::find(JsonId object, std::string_view name) const {
  const JsonNode& node = (*this)[object];
  const auto key = [&node](uint32_t position) -> std::string_view {
    return node.members[position].first;
  };
  const auto place = std::ranges::lower_bound(node.by_name, name, {}, key);
  return place != node.by_name.end() && key(*place) == name ? node.members[*place].second : kNoJson;
}

JsonId JsonDocument::item(const JsonNode& array, std::string_view index) const {
  size_t number = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
  if (error != std::errc() || number >= array.items.size()) return kNoJson;
  const JsonId result = array.items[number];
  return (*this)[result].key == index ? result : kNoJson;
}

JsonId JsonDocument::at_pointer(JsonId from, std::string_view pointer) const {
  while (!pointer.empty() && from != kNoJson) {
    if (pointer[0] != '/') return kNoJson;
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string name;
    for (size_t i = 1; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      name += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    pointer.remove_prefix(end);
    const JsonNode& node = (*this)[from];
    from = node.is_array() ? item(node, name) : find(from, name);
  }
  return from;
}

std::string JsonDocument::pointer(JsonId id) const {
  std::vector<std::string_view> keys;
  for (; (*this)[id].parent != kNoJson; id = (*this)[id].parent) keys.push_back((*this)[id].key);
  std::string result;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    result += '/';
    for (const char c : *key) {
      result += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
  }
  return result;
}

bool JsonDocument::equal(JsonId a, JsonId b) const { return canonical(a) == canonical(b); }

std::string JsonDocument::canonical(JsonId id) const {
  const JsonNode& node = (*this)[id];
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBoolean:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::kNumber:
      return Decimal::parse(node.text).plain();
    case JsonNode::Kind::kString:
      return fmt::format("{}\"{}", node.text.size(), node.text);
    case JsonNode::Kind::kArray: {
      std::string result = "[";
      for (const JsonId item : node.items) result += canonical(item) + ",";
      return result + "]";
    }
    case JsonNode::Kind::kObject: {
      std::vector<std::string> members;
      for (const auto& [name, member] : node.members) {
        members.push_back(fmt::format("{}\"{}:{}", name.size(), name, canonical(member)));
      }
      std::sort(members.begin(), members.end());
      return fmt::format("{{{}}}", fmt::join(members, ","));
    }
  }
  return {};
}

}  // namespace heed::constrain
