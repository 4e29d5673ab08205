#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/io/pytorch/pickle.h"
#include "heed/io/pytorch/torch_contents.h"
#include "heed/io/pytorch/zip_archive.h"

namespace heed::io {
namespace {

/// The folder of the archive with the pickle, which holds all of it.
std::string_view folder_of(const ZipArchive& archive, const std::string& path) {
  constexpr std::string_view kPickle = "/data.pkl";
  std::string_view folder;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(kPickle)) continue;
    require(folder.empty(), "{}: has two files data.pkl", path);
    folder = entry.name.substr(0, entry.name.size() - kPickle.size());
  }
  require(!folder.empty(),
          "{}: is a zip archive without a file data.pkl, so torch.save has not "
          "written it",
          path);
  return folder;
}

}  // namespace

TorchContents read_zip_contents(const std::shared_ptr<MappedFile>& file, const std::string& path) {
  const auto archive = std::make_shared<const ZipArchive>(file, path);
  const std::string folder(folder_of(*archive, path));
  if (const auto* entry = archive->find(folder + "/byteorder")) {
    const auto bytes = archive->bytes_of(*entry);
    const std::string_view order(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    require(order == "little", "{}: the byte order of its numbers is {}, expected \"little\"", path,
            quoted(order));
  }
  TorchContents contents{
      PickleObjects(path, file->bytes().size() + limits::kMaxPickleMemory), {}, {}};
  const auto pickle_bytes = archive->bytes_of(*archive->find(folder + "/data.pkl"));
  Pickle pickle(pickle_bytes, 0, contents.objects);
  contents.value = pickle.read();
  require(pickle.end() == pickle_bytes.size(), "{}: {} bytes follow the pickle in data.pkl", path,
          pickle_bytes.size() - pickle.end());
  contents.place_of = [archive, folder, path](std::string_view key) {
    const auto* entry = archive->find(fmt::format("{}/data/{}", folder, key));
    require(entry, "{}: the storage {} is missing", path, quoted(key));
    return StoragePlace{entry->begin, entry->end};
  };
  return contents;
}

}  // namespace heed::io
