#include "heed/hub/listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/hub/model_name.h"

namespace heed::hub {
namespace {

using Json = nlohmann::json;

std::string checksum_of(const Json& object, std::string_view key, size_t digits,
                        const std::string& source) {
  auto checksum = get<std::string>(object, key, source);
  require(is_hexadecimal(checksum, digits), "{}: {} is {}, expected {} hexadecimal digits", source,
          key, quoted(checksum), digits);
  return checksum;
}

uint64_t size_of(const Json& object, const std::string& source) {
  constexpr int64_t kLargest = int64_t{1} << 44;
  require(object.contains("size"), "{}: size is missing", source);
  return static_cast<uint64_t>(integer_of(object["size"], "size", source, 0, kLargest));
}

ListedFile read_file_entry(const Json& entry, const std::string& source) {
  const auto lfs = entry.find("lfs");
  if (lfs == entry.end() || lfs->is_null())
    return {size_of(entry, source), checksum_of(entry, "blobId", 40, source)};
  require(lfs->is_object(), "{}: lfs is {}, expected an object", source, excerpt(*lfs));
  return {size_of(*lfs, source), checksum_of(*lfs, "sha256", 64, source)};
}

}  // namespace

bool is_hexadecimal(std::string_view text, size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string listed_repository(std::string_view json, const std::string& source) {
  const Json response = parse_json(json, source);
  if (!response.is_object() || !response.contains("id") || !response["id"].is_string()) return {};
  const auto id = response["id"].get<std::string>();
  return has_owner(id) && is_repository(id) ? id : "";
}

Listing parse_listing(std::string_view json, const std::string& source) {
  const Json response = parse_json(json, source);
  require(response.is_object(), "{}: expected an object, found {}", source, excerpt(response));
  Listing listing;
  listing.commit = checksum_of(response, "sha", 40, source);
  const auto files = response.find("siblings");
  require(files != response.end() && files->is_array(),
          "{}: siblings, the list of files, is missing or not a list", source);
  for (const Json& entry : *files) {
    require(entry.is_object(), "{}: a file is {}, expected an object", source, excerpt(entry));
    auto path = get<std::string>(entry, "rfilename", source);
    if (is_inner_path(path)) listing.files[std::move(path)] = read_file_entry(entry, source);
  }
  return listing;
}

}  // namespace heed::hub
