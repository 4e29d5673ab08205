#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heed::hub {

/// The checksum of a file of the hub: SHA-256 for large files, which Git LFS holds, else the SHA-1
/// of Git's object, which begins with "blob SIZE" and a zero byte. Computed by OpenSSL's libcrypto,
/// which uses the processor's instructions for it and is there wherever libcurl is.
class Digest {
 public:
  /// `checksum` has 64 hexadecimal digits for SHA-256, or 40 for Git's SHA-1 of a file of `size`
  /// bytes. Throws Error when libcrypto is missing.
  Digest(std::string_view checksum, uint64_t size);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  void update(std::string_view bytes);
  /// In lower-case hexadecimal digits. Must be called once, after the last update.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed::hub
