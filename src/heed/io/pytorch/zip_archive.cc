#include "heed/io/pytorch/zip_archive.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kLocalHeader = "PK\3\4", kDirectoryEntry = "PK\1\2", kEnd = "PK\5\6",
                           kEnd64 = "PK\6\6", kEnd64Locator = "PK\6\7";
constexpr size_t kLocalHeaderBytes = 30, kDirectoryEntryBytes = 46, kEndBytes = 22,
                 kEnd64LocatorBytes = 20;
/// A field that is in the extension for zip64 instead.
constexpr uint32_t kElsewhere = 0xffffffff;
constexpr uint16_t kZip64Extra = 1;

/// The bytes of an archive, read at checked places.
class ZipBytes {
 public:
  ZipBytes(std::span<const std::byte> bytes, const std::string& path)
      : bytes_(bytes), path_(path) {}

  size_t size() const { return bytes_.size(); }
  const std::string& path() const { return path_; }

  template <typename T>
  T number(size_t at) const {
    T value;
    std::memcpy(&value, text(at, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text(uint64_t at, uint64_t length) const {
    require(at <= size() && length <= size() - at,
            "{}: the zip archive is damaged or truncated: {} bytes at byte {} are missing", path_,
            length, at);
    return {reinterpret_cast<const char*>(bytes_.data()) + at, length};
  }
  bool starts_with(size_t at, std::string_view magic) const {
    return at <= size() && magic.size() <= size() - at && text(at, magic.size()) == magic;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& path_;
};

/// Where the directory is.
struct DirectoryPlace {
  uint64_t entries = 0, begin = 0, bytes = 0;
};

/// The record at the end of the archive, before a comment.
size_t find_end(const ZipBytes& zip) {
  constexpr size_t kMaxComment = 0xffff;
  require(zip.size() >= kEndBytes, "{}: has {} bytes, too few for a zip archive", zip.path(),
          zip.size());
  const size_t last = zip.size() - kEndBytes, first = last - std::min(last, kMaxComment);
  for (size_t at = last + 1; at-- > first;)
    if (zip.starts_with(at, kEnd) && zip.number<uint16_t>(at + 20) == last - at) return at;
  fail("{}: the zip archive has no end: it is truncated, or something follows it", zip.path());
}

DirectoryPlace find_directory(const ZipBytes& zip) {
  const size_t end = find_end(zip);
  bool parts = zip.number<uint16_t>(end + 4) || zip.number<uint16_t>(end + 6);
  DirectoryPlace place{zip.number<uint16_t>(end + 10), zip.number<uint32_t>(end + 16),
                       zip.number<uint32_t>(end + 12)};
  size_t limit = end;
  if (end >= kEnd64LocatorBytes && zip.starts_with(end - kEnd64LocatorBytes, kEnd64Locator)) {
    const auto at = zip.number<uint64_t>(end - kEnd64LocatorBytes + 8);
    require(at <= end - kEnd64LocatorBytes && zip.text(at, kEnd64.size()) == kEnd64,
            "{}: the zip archive is damaged: its end is not at byte {}", zip.path(), at);
    parts = zip.number<uint32_t>(at + 16) || zip.number<uint32_t>(at + 20);
    place = {zip.number<uint64_t>(at + 32), zip.number<uint64_t>(at + 48),
             zip.number<uint64_t>(at + 40)};
    limit = at;
  }
  require(!parts, "{}: is a part of a zip archive in several files, which heed does not read",
          zip.path());
  require(place.begin <= limit && place.bytes <= limit - place.begin &&
              place.entries <= place.bytes / kDirectoryEntryBytes,
          "{}: the zip archive is damaged: {} bytes at byte {} cannot be a directory of {} entries",
          zip.path(), place.bytes, place.begin, place.entries);
  return place;
}

/// What the directory says of an entry.
struct DirectoryEntry {
  std::string_view name;
  uint64_t bytes = 0, stored_bytes = 0, header = 0;
  size_t size = 0;  // of what stands in the directory
};

/// Reads those fields that are in the extension for zip64.
void read_zip64(const ZipBytes& zip, DirectoryEntry& entry, std::string_view extra) {
  const auto u16 = [&](size_t at) {
    uint16_t value = 0;
    std::memcpy(&value, extra.data() + at, sizeof value);
    return value;
  };
  while (extra.size() >= 4) {
    const size_t length = u16(2);
    if (length > extra.size() - 4) break;
    if (u16(0) == kZip64Extra) {
      std::string_view values = extra.substr(4, length);
      for (uint64_t* field : {&entry.bytes, &entry.stored_bytes, &entry.header}) {
        if (*field != kElsewhere) continue;
        require(values.size() >= sizeof *field,
                "{}: the zip archive is damaged: {} has no size or place", zip.path(),
                one_line(entry.name));
        std::memcpy(field, values.data(), sizeof *field);
        values.remove_prefix(sizeof *field);
      }
      return;
    }
    extra.remove_prefix(4 + length);
  }
}

DirectoryEntry read_directory_entry(const ZipBytes& zip, size_t at) {
  require(zip.starts_with(at, kDirectoryEntry),
          "{}: the zip archive is damaged: its directory has no entry at byte {}", zip.path(), at);
  const size_t name_bytes = zip.number<uint16_t>(at + 28), extra = zip.number<uint16_t>(at + 30),
               comment = zip.number<uint16_t>(at + 32);
  DirectoryEntry entry{.name = zip.text(at + kDirectoryEntryBytes, name_bytes),
                       .bytes = zip.number<uint32_t>(at + 24),
                       .stored_bytes = zip.number<uint32_t>(at + 20),
                       .header = zip.number<uint32_t>(at + 42),
                       .size = kDirectoryEntryBytes + name_bytes + extra + comment};
  zip.text(at, entry.size);
  read_zip64(zip, entry, zip.text(at + kDirectoryEntryBytes + name_bytes, extra));
  const std::string name = one_line(entry.name);
  const auto flags = zip.number<uint16_t>(at + 8), method = zip.number<uint16_t>(at + 10);
  require((flags & 1) == 0, "{}: {} is encrypted", zip.path(), name);
  require(method == 0,
          "{}: {} is compressed ({}), which heed does not read: torch.save stores entries as they "
          "are",
          zip.path(), name, method == 8 ? "deflate" : fmt::format("method {}", method));
  require(entry.bytes == entry.stored_bytes,
          "{}: {} has {} bytes, but {} are stored, and it is not compressed", zip.path(), name,
          entry.bytes, entry.stored_bytes);
  return entry;
}

/// The place of an entry's data, behind a header of its own.
ZipArchive::Entry located(const ZipBytes& zip, const DirectoryEntry& entry) {
  const std::string name = one_line(entry.name);
  require(entry.header < zip.size() && zip.starts_with(entry.header, kLocalHeader),
          "{}: {} is not at byte {}, where the zip archive's directory says", zip.path(), name,
          entry.header);
  const size_t name_bytes = zip.number<uint16_t>(entry.header + 26),
               extra = zip.number<uint16_t>(entry.header + 28);
  const std::string_view own = zip.text(entry.header + kLocalHeaderBytes, name_bytes);
  require(own == entry.name, "{}: {} is called {} where its data are", zip.path(), name,
          quoted(own));
  const uint64_t begin = entry.header + kLocalHeaderBytes + name_bytes + extra;
  require(begin <= zip.size() && entry.bytes <= zip.size() - begin,
          "{}: {} should have {} bytes at byte {}, but the file has {}", zip.path(), name,
          entry.bytes, begin, zip.size());
  return {entry.name, entry.header, begin, begin + entry.bytes};
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<MappedFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {
  const ZipBytes zip(file_->bytes(), path_);
  const DirectoryPlace place = find_directory(zip);
  entries_.reserve(place.entries);
  size_t at = place.begin;
  for (uint64_t i = 0; i < place.entries; ++i) {
    const DirectoryEntry entry = read_directory_entry(zip, at);
    entries_.push_back(located(zip, entry));
    at += entry.size;
  }
  require(at == place.begin + place.bytes,
          "{}: the zip archive is damaged: the entries of its directory have {} bytes, expected {}",
          path_, at - place.begin, place.bytes);
  std::ranges::sort(entries_, {}, &Entry::header);
  size_t free = 0;
  for (const Entry& entry : entries_) {
    require(entry.header >= free &&
                (entry.end <= place.begin || entry.header >= place.begin + place.bytes),
            "{}: {} overlaps another part of the zip archive", path_, one_line(entry.name));
    free = entry.end;
  }
  std::ranges::sort(entries_, {}, &Entry::name);
  const auto twice = std::ranges::adjacent_find(entries_, {}, &Entry::name);
  require(twice == entries_.end(), "{}: {} occurs twice", path_,
          twice == entries_.end() ? "" : one_line(twice->name));
}

bool ZipArchive::is_zip(std::span<const std::byte> file) {
  return file.size() >= kLocalHeader.size() &&
         std::memcmp(file.data(), kLocalHeader.data(), kLocalHeader.size()) == 0;
}

const ZipArchive::Entry* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

std::span<const std::byte> ZipArchive::bytes_of(const Entry& entry) const {
  return std::span<const std::byte>(file_->bytes()).subspan(entry.begin, entry.end - entry.begin);
}

}  // namespace heed::io
