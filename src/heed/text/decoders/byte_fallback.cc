#include "heed/text/decoders/decoder.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

std::optional<int> hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

/// The byte of a piece such as <0xE5>.
std::optional<char> byte_of(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  // `tokenizers` parses "<0x+7>" as 7.
  const auto high = piece[3] == '+' ? std::optional<int>(0) : hexadecimal(piece[3]);
  const auto low = hexadecimal(piece[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

/// A run of byte pieces becomes text if it is valid UTF-8 as a whole; otherwise each byte becomes
/// U+FFFD.
class ByteFallback : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces, size_t) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto end_run = [&] {
      if (bytes.empty()) return;
      if (is_valid_utf8(bytes))
        result.push_back(bytes);
      else
        result.insert(result.end(), bytes.size(), "\uFFFD");
      bytes.clear();
    };
    for (std::string& piece : pieces) {
      if (const auto byte = byte_of(piece)) {
        bytes.push_back(*byte);
        continue;
      }
      end_run();
      result.push_back(std::move(piece));
    }
    end_run();
    pieces = std::move(result);
  }
  std::string bytes_of(std::string piece, bool&) const override {
    const auto byte = byte_of(piece);
    return byte ? std::string(1, *byte) : piece;
  }
};

}  // namespace

std::unique_ptr<Decoder> make_byte_fallback_decoder() { return std::make_unique<ByteFallback>(); }

}  // namespace heed::text
