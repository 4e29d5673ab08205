#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::constrain {

/// A value of a JsonDocument, by its position there.
using JsonId = int32_t;
inline constexpr JsonId kNoJson = -1;

/// One value of a JSON text. Numbers keep their spelling, so that 0.1 and 2^70 stay exact.
struct JsonNode {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;                                     // of a string or a number
  std::vector<JsonId> items;                            // of an array
  std::vector<std::pair<std::string, JsonId>> members;  // of an object, in their order
  std::vector<uint32_t> by_name;                        // positions of members, by their names
  JsonId parent = kNoJson;
  std::string key;  // in the parent: the member's name or the item's index

  bool is_object() const { return kind == Kind::kObject; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool is_boolean() const { return kind == Kind::kBoolean; }
};

/// JSON texts as one table of values. Reading them, and freeing them, does not recurse.
class JsonDocument {
 public:
  /// Nesting that a text may have: far above that of published schemas, and what functions that
  /// descend into a schema rely on.
  static constexpr int kMaxDepth = 256;

  /// Values that a schema may have: far above that of published ones.
  static constexpr JsonId kMaxSchemaValues = 1 << 16;

  /// Adds the values of a text and returns its outermost one. Throws Error on a syntax error, on a
  /// member that an object has twice, on more than kMaxDepth levels and once there are more than
  /// `max_size` values, which calls the text `what`.
  JsonId read(std::string_view text, std::string_view what = "the schema",
              JsonId max_size = kMaxSchemaValues);

  const JsonNode& operator[](JsonId id) const { return nodes_[static_cast<size_t>(id)]; }
  JsonId size() const { return static_cast<JsonId>(nodes_.size()); }

  /// The member of an object, or kNoJson, also if `object` is none.
  JsonId find(JsonId object, std::string_view name) const;
  /// The value that a JSON pointer (RFC 6901, not percent-encoded) reaches from `from`, or kNoJson.
  JsonId at_pointer(JsonId from, std::string_view pointer) const;
  /// The JSON pointer to a value from the outermost one, "" for that.
  std::string pointer(JsonId id) const;
  /// Whether two values are equal as JSON Schema defines it: 1 and 1.0 are, and the order of
  /// members does not matter.
  bool equal(JsonId a, JsonId b) const;
  /// A text that equal values, and only these, have in common.
  std::string canonical(JsonId id) const;

 private:
  friend class JsonDocumentReader;
  JsonId item(const JsonNode& array, std::string_view index) const;

  std::vector<JsonNode> nodes_;
};

}  // namespace heed::constrain
