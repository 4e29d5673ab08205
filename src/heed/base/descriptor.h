#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "heed/base/error.h"

namespace heed {

/// Owns a file descriptor and closes it; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }

 private:
  int number_;
};

/// Throws Error "PATH: WHAT: the system's reason", which is read from errno.
[[noreturn]] inline void fail_system(const std::filesystem::path& path, std::string_view what) {
  fail("{}: {}: {}", path.string(), what, std::strerror(errno));
}

}  // namespace heed
