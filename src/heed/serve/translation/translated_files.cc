#include "heed/serve/translation/translated_files.h"

#include <fmt/format.h>

#include <random>

namespace heed::serve {

std::string TranslatedFiles::add(const std::string& name, std::string content,
                                 Clock::time_point now) {
  std::random_device random;
  std::string key =
      fmt::format("{:08x}{:08x}{:08x}{:08x}.{}", random(), random(), random(), random(), name);
  const MutexLock lock(mutex_);
  bytes_ += content.size();
  files_.push_back({key, std::make_shared<const std::string>(std::move(content)), now});
  drop_old(now);
  return key;
}

std::shared_ptr<const std::string> TranslatedFiles::find(std::string_view key,
                                                         Clock::time_point now) {
  const MutexLock lock(mutex_);
  drop_old(now);
  for (const File& file : files_)
    if (file.key == key) return file.content;
  return nullptr;
}

void TranslatedFiles::drop_old(Clock::time_point now) {
  while (!files_.empty() && (bytes_ > kMaxBytes || now - files_.front().added >= kTime)) {
    bytes_ -= files_.front().content->size();
    files_.pop_front();
  }
}

}  // namespace heed::serve
