#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"

namespace heed {

/// A JSON Schema as heed enforces it (StructuredOutput::json_schema): whether it can be, and which
/// values it allows. Copies share everything, and any number of threads may use one at once, one
/// after the other.
class HEED_EXPORT JsonSchema {
 public:
  /// Compiles it. Throws InputError when it is not valid or cannot be enforced, which names the
  /// first such keyword with its JSON pointer.
  explicit JsonSchema(std::string schema);
  JsonSchema(const JsonSchema&) = default;
  JsonSchema& operator=(const JsonSchema&) = default;
  ~JsonSchema();

  /// The keywords that assert nothing and are not for remarks, as "title" is: such as "foo", or
  /// "format \"foo\"" for a format that heed does not know. They are ignored.
  const std::vector<std::string>& ignored() const;
  /// Why a text is not JSON whose value the schema allows, with the JSON pointer of the innermost
  /// such value; nothing if it is. Members may come in any order, and numbers and strings may be
  /// written as JSON allows. Throws InputError when finding out takes too much memory or time.
  std::optional<std::string> violation(std::string_view text) const;

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace heed
