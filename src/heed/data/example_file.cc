#include "heed/data/example_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"

namespace heed::data {
namespace {

constexpr size_t kWrittenBytes = size_t{1} << 20;
constexpr int64_t kNumbersPerLink = sizeof(Link) / sizeof(int32_t);

}  // namespace

ExampleFile::ExampleFile(const std::filesystem::path& directory)
    : directory_(directory), tokens_(open()), entries_(open()) {}

ExampleFile::File ExampleFile::open() const {
  std::string name = (directory_ / "examples.XXXXXX").string();
  Descriptor descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (descriptor.get() < 0) fail_system(directory_, "no file can be made for tokens");
  ::unlink(name.c_str());
  return {std::move(descriptor), {}};
}

void ExampleFile::add(const Example& example) {
  const Entry entry{token_count_, lengths_of(example), std::ssize(example.links)};
  append(entries_, std::as_bytes(std::span(&entry, 1)));
  append(tokens_, std::as_bytes(std::span(&example.start, 1)));
  append(tokens_, std::as_bytes(std::span(example.source)));
  append(tokens_, std::as_bytes(std::span(example.target)));
  append(tokens_, std::as_bytes(std::span(example.links)));
  token_count_ += 1 + std::ssize(example.source) + std::ssize(example.target) +
                  kNumbersPerLink * std::ssize(example.links);
  ++count_;
}

void ExampleFile::flush() {
  write(tokens_);
  write(entries_);
}

void ExampleFile::append(File& file, std::span<const std::byte> bytes) const {
  file.pending.insert(file.pending.end(), bytes.begin(), bytes.end());
  if (file.pending.size() >= kWrittenBytes) write(file);
}

void ExampleFile::write(File& file) const {
  for (std::span<const std::byte> left = file.pending; !left.empty();) {
    const ssize_t written = ::write(file.descriptor.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system(directory_, "a file of tokens cannot be written");
    left = left.subspan(static_cast<size_t>(written));
  }
  file.pending.clear();
}

void ExampleFile::read(const File& file, int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file.descriptor.get(), bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(directory_, "a file of tokens cannot be read");
    require(got > 0, "{}: a file of tokens ends early", directory_.string());
    offset += got;
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

ExampleFile::Entry ExampleFile::entry(int64_t index) const {
  require(index >= 0 && index < count_, "example {} is out of range, expected 0 to {}", index,
          count_ - 1);
  Entry entry{};
  read(entries_, index * static_cast<int64_t>(sizeof(Entry)),
       std::as_writable_bytes(std::span(&entry, 1)));
  return entry;
}

Lengths ExampleFile::lengths_at(int64_t index) const { return entry(index).lengths; }

Example ExampleFile::at(int64_t index) const {
  const auto [begin, lengths, link_count] = entry(index);
  std::vector<int32_t> tokens(1 + static_cast<size_t>(lengths.source) +
                              static_cast<size_t>(lengths.target) +
                              static_cast<size_t>(kNumbersPerLink * link_count));
  read(tokens_, begin * static_cast<int64_t>(sizeof(int32_t)),
       std::as_writable_bytes(std::span(tokens)));
  const auto target = tokens.begin() + 1 + lengths.source, links = target + lengths.target;
  Example example{{tokens.begin() + 1, target}, {target, links}, {}, tokens.front()};
  for (auto link = links; link != tokens.end(); link += kNumbersPerLink)
    example.links.push_back({link[0], link[1]});
  return example;
}

}  // namespace heed::data
