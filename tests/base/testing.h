#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "heed/base/error.h"

namespace heed {

/// Sanitizers abort when memory runs out and do not work under a limit on the address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// A new, empty directory that the destructor removes.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "heed-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("{} cannot be made", name);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes a file without synchronising it with the disk.
inline void write_quickly(const std::filesystem::path& path, const std::string& bytes) {
  // Truncating an existing file makes ext4 wait for the disk.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The message of the Error that `action` throws, else "no error". Other exceptions pass through.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Expects that `action` throws an Error whose message is one line and contains `part`.
inline void expect_error(const std::function<void()>& action, const std::string& part) {
  const std::string text = error_of(action);
  EXPECT_NE(text.find(part), std::string::npos) << "found:  " << text << "\nwanted: " << part;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

}  // namespace heed
