#include <algorithm>
#include <cstring>
#include <map>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/io/pytorch/pickle.h"
#include "heed/io/pytorch/pickle_instructions.h"
#include "heed/io/pytorch/torch_contents.h"

namespace heed::io {
namespace {

using Places = std::map<std::string, StoragePlace, std::less<>>;

/// The bytes of the number 0x1950a86a20f9469cfc6c, of which the first pickle is made, and how many
/// bytes at most are before them.
constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
constexpr size_t kMostBeforeMagic = 16;
constexpr int64_t kFormatVersion = 1001;

void require_little_endian(const PickleObjects& objects, PickleValue machine) {
  require(machine.is(PickleKind::dict), "{}: the machine that wrote it is {}, expected a dict",
          objects.file(), name_of(machine.kind));
  const PickleValue* const order = objects.find(machine, "little_endian");
  require(order && order->is(PickleKind::boolean) && order->value,
          "{}: the byte order of its numbers is not \"little\"", objects.file());
}

/// The storages behind the pickles, from byte `at`.
Places places_of(std::span<const std::byte> file, size_t at, const PickleObjects& objects,
                 PickleValue keys) {
  std::map<std::string_view, const TorchStorage*> described;
  for (const TorchStorage& storage : objects.storages()) described.emplace(storage.key, &storage);
  require(keys.is(PickleKind::list), "{}: the keys of its storages are {}, expected a list",
          objects.file(), name_of(keys.kind));
  Places places;
  for (const PickleValue value : objects.items(keys)) {
    const auto found =
        value.is(PickleKind::text) ? described.find(objects.text(value)) : described.end();
    require(found != described.end(), "{}: no tensor has a storage that it lists", objects.file());
    const auto& [key, storage] = *found;
    int64_t elements = 0;
    require(file.size() - at >= sizeof elements,
            "{}: the storage {} is missing: the file is "
            "truncated",
            objects.file(), quoted(key));
    std::memcpy(&elements, file.data() + at, sizeof elements);
    at += sizeof elements;
    const size_t rest = file.size() - at, bytes = storage->dtype->bytes;
    require(elements == storage->elements && static_cast<uint64_t>(elements) <= rest / bytes,
            "{}: the storage {} has {} elements, expected {}, for which {} bytes follow",
            objects.file(), quoted(key), elements, storage->elements, rest);
    const size_t end = at + static_cast<size_t>(elements) * bytes;
    require(places.emplace(key, StoragePlace{at, end}).second, "{}: the storage {} occurs twice",
            objects.file(), quoted(key));
    at = end;
  }
  require(at == file.size(), "{}: the last {} bytes belong to no storage", objects.file(),
          file.size() - at);
  return places;
}

}  // namespace

bool is_legacy_contents(std::span<const std::byte> file) {
  constexpr auto kProtocol = static_cast<std::byte>(pickle_instructions::kProtocol);
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              std::min(file.size(), kMostBeforeMagic + kLegacyMagic.size()));
  return !file.empty() && file.front() == kProtocol && text.find(kLegacyMagic) != text.npos;
}

TorchContents read_legacy_contents(const std::shared_ptr<MappedFile>& file,
                                   const std::string& path) {
  const auto bytes = file->bytes();
  TorchContents contents{PickleObjects(path, bytes.size() + limits::kMaxPickleMemory), {}, {}};
  size_t at = 0;
  const auto read = [&] {
    Pickle pickle(bytes, at, contents.objects);
    const PickleValue value = pickle.read();
    at = pickle.end();
    return value;
  };
  const PickleValue magic = read();
  require(magic.is(PickleKind::big_integer) && contents.objects.text(magic) == kLegacyMagic,
          "{}: does not begin with the magic number of torch.save", path);
  const PickleValue version = read();
  require(version.is(PickleKind::integer) && version.value == kFormatVersion,
          "{}: has another version of the format than {}", path, kFormatVersion);
  require_little_endian(contents.objects, read());
  contents.value = read();
  const PickleValue keys = read();
  const auto places = std::make_shared<const Places>(places_of(bytes, at, contents.objects, keys));
  contents.place_of = [places, path](std::string_view key) {
    const auto found = places->find(key);
    require(found != places->end(), "{}: the storage {} is missing", path, quoted(key));
    return found->second;
  };
  return contents;
}

}  // namespace heed::io
