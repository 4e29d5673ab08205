#pragma once

#include <optional>
#include <string>

#include "heed/base/error.h"

namespace heed::engine {

/// What read() returns, or the Error that it threw, which value() throws again. Any number of
/// threads may call value() at once.
template <typename Value>
class ValueOrError {
 public:
  template <typename Read>
  static ValueOrError of(const Read& read) {
    ValueOrError result;
    try {
      result.value_.emplace(read());
    } catch (const Error& error) {
      result.error_ = error.what();
    }
    return result;
  }

  bool has_value() const { return value_.has_value(); }
  const Value& value() const {
    if (!value_) throw Error(error_);
    return *value_;
  }

 private:
  std::optional<Value> value_;
  std::string error_;
};

}  // namespace heed::engine
