#pragma once

#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/jinja/limits.h"

namespace heed::jinja {

/// A line of a template, for messages.
struct SourceLocation {
  std::string name;
  int line = 1;

  /// Throws Error "NAME:LINE: message".
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    heed::fail("{}:{}: {}", name, line, fmt::format(text, std::forward<Args>(args)...));
  }
};

/// Bytes that may be in use at the same time.
class Budget {
 public:
  Budget(const SourceLocation& location, const char* what, size_t limit)
      : location_(location), what_(what), limit_(limit), left_(limit) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  void take(size_t bytes) {
    if (bytes > left_) location_.fail("{} would take more than {} bytes", what_, limit_);
    left_ -= bytes;
  }
  void give(size_t bytes) { left_ += bytes; }

 private:
  const SourceLocation& location_;
  const char* what_;
  size_t limit_, left_;
};

/// A share of a budget, given back by the destructor. The budget outlives it. One made without a
/// budget counts nothing: the constants of a template belong to no rendering.
class Charge {
 public:
  Charge() = default;
  Charge(Budget& budget, size_t bytes) : budget_(&budget) { add(bytes); }
  Charge(Charge&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() {
    if (budget_ != nullptr) budget_->give(bytes_);
  }

  /// Throws Error, and takes nothing, when the budget is exhausted.
  void add(size_t bytes) {
    if (budget_ == nullptr) return;
    budget_->take(bytes);
    bytes_ += bytes;
  }

 private:
  Budget* budget_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace heed::jinja
