#pragma once

#include <optional>
#include <string>

#include "heed/base/error.h"

namespace heed::engine {

/// A value, or the Error that reading it threw, which value() throws again. Any number of threads
/// may call value() at once.
template <typename Value>
class ValueOrError {
 public:
  /// Keeps what read() returns or throws.
  template <typename Read>
  void set(const Read& read) {
    try {
      value_.emplace(read());
    } catch (const Error& error) {
      error_ = error.what();
    }
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
