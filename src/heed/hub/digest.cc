#include "heed/hub/digest.h"

#include <openssl/evp.h>

#include <array>

#include "heed/base/error.h"
#include "heed/base/shared_library.h"

namespace heed::hub {
namespace {

/// The functions of libcrypto that are used here.
struct Crypto {
  decltype(&EVP_MD_CTX_new) context_new;
  decltype(&EVP_MD_CTX_free) context_free;
  decltype(&EVP_sha1) sha1;
  decltype(&EVP_sha256) sha256;
  decltype(&EVP_DigestInit_ex) init;
  decltype(&EVP_DigestUpdate) update;
  decltype(&EVP_DigestFinal_ex) final;

  Crypto() {
    const SharedLibrary library({"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.3.dylib"},
                                "downloading a model", "libssl3");
    library.find(context_new, "EVP_MD_CTX_new");
    library.find(context_free, "EVP_MD_CTX_free");
    library.find(sha1, "EVP_sha1");
    library.find(sha256, "EVP_sha256");
    library.find(init, "EVP_DigestInit_ex");
    library.find(update, "EVP_DigestUpdate");
    library.find(final, "EVP_DigestFinal_ex");
  }
};

const Crypto& crypto() {
  static const Crypto functions;
  return functions;
}

}  // namespace

struct Digest::State {
  EVP_MD_CTX* context = crypto().context_new();
  ~State() { crypto().context_free(context); }
};

Digest::Digest(std::string_view checksum, uint64_t size) : state_(std::make_unique<State>()) {
  const bool git = checksum.size() == 40;
  const EVP_MD* algorithm = git ? crypto().sha1() : crypto().sha256();
  require(crypto().init(state_->context, algorithm, nullptr) == 1, "libcrypto cannot compute {}",
          git ? "SHA-1" : "SHA-256");
  if (!git) return;
  const std::string header = fmt::format("blob {}", size);
  update({header.c_str(), header.size() + 1});
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::update(std::string_view bytes) {
  require(crypto().update(state_->context, bytes.data(), bytes.size()) == 1,
          "libcrypto cannot compute a checksum");
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  require(crypto().final(state_->context, bytes.data(), &size) == 1,
          "libcrypto cannot compute a checksum");
  std::string digits;
  for (unsigned int i = 0; i < size; ++i) digits += fmt::format("{:02x}", bytes[i]);
  return digits;
}

}  // namespace heed::hub
