#include "heed/hub/download.h"

#include <filesystem>

#include "heed/base/file.h"
#include "heed/hub/blob_task.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// `text` within a URL: all but letters, digits and "-_.~" as %XX; `slash` stays, too.
std::string url_text(std::string_view text, bool slash) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || (slash && c == '/');
    if (plain)
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// The list of files, as text.
class ListingTask : public Task {
 public:
  ListingTask(std::string name, std::string url) : name_(std::move(name)), url_(std::move(url)) {}

  std::string name() const override { return name_; }
  std::string url() const override { return url_; }
  /// It is always read from its beginning.
  uint64_t size() const override { return 0; }
  void begin(const ResponseHead&) override { text_.clear(); }
  void receive(std::string_view bytes) override {
    constexpr size_t kMaxBytes = size_t{32} << 20;
    require(text_.size() + bytes.size() <= kMaxBytes, "{}: the response exceeds {} bytes", name_,
            kMaxBytes);
    text_ += bytes;
  }
  std::string finish() override { return {}; }

  const std::string& text() const { return text_; }

 private:
  const std::string name_, url_;
  std::string text_;
};

uint64_t existing_bytes(const fs::path& blob) {
  for (const fs::path& file : {blob, fs::path(blob.string() + ".incomplete")}) {
    std::error_code error;
    const uint64_t size = fs::file_size(file, error);
    if (!error) return size;
  }
  return 0;
}

void require_space(const fs::path& folder, uint64_t bytes) {
  make_directory(folder);
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  // Some file systems do not know their size.
  if (error || space.capacity == 0) return;
  require(bytes <= space.available, "{}: {:.3f} GB are to be downloaded, {:.3f} GB are free",
          folder.string(), static_cast<double>(bytes) * 1e-9,
          static_cast<double>(space.available) * 1e-9);
}

/// Reports the progress of tasks at most ten times a second, and at the end.
class Reporter {
 public:
  Reporter(const HubOptions& options, std::string_view model,
           const std::vector<std::unique_ptr<Task>>& tasks)
      : options_(options), model_(model), tasks_(tasks) {}

  void tick(bool waiting) {
    if (!options_.on_progress || tasks_.empty()) return;
    DownloadProgress progress{.model = model_, .waiting = waiting};
    progress.total_files = static_cast<int>(tasks_.size());
    for (const auto& task : tasks_) {
      const auto& blob = static_cast<const BlobTask&>(*task);
      progress.bytes += blob.size();
      progress.total_bytes += blob.total();
      progress.files += blob.done() ? 1 : 0;
    }
    const Clock::time_point now = Clock::now();
    if (progress.files < progress.total_files && now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    options_.on_progress(progress);
  }

 private:
  const HubOptions& options_;
  const std::string_view model_;
  const std::vector<std::unique_ptr<Task>>& tasks_;
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace

Download::Download(const Settings& settings, const HubOptions& options,
                   const std::string& repository, const RepositoryCache& cache)
    : settings_(settings),
      options_(options),
      repository_(repository),
      source_(repository),
      cache_(cache),
      fetcher_(settings.token, options) {}

std::string Download::listing_name() const {
  return fmt::format("the list of files of {}", repository_);
}

std::string Download::ask(const std::string& revision) {
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.push_back(std::make_unique<ListingTask>(
      listing_name(), fmt::format("{}/api/models/{}/revision/{}?blobs=true", settings_.endpoint,
                                  source_, url_text(revision, false))));
  fetcher_.run(tasks, [](bool) {});
  return static_cast<const ListingTask&>(*tasks.front()).text();
}

Listing Download::list(const std::string& revision) {
  std::string answer = ask(revision);
  // The redirect of a repository that has moved need not carry "?blobs=true" along.
  const std::string moved = listed_repository(answer, listing_name());
  if (!moved.empty() && moved != source_) {
    source_ = moved;
    answer = ask(revision);
  }
  return parse_listing(answer, listing_name());
}

void Download::fetch(const Listing& listing, const std::vector<std::string>& files, bool report) {
  std::vector<std::unique_ptr<Task>> tasks;
  uint64_t missing = 0;
  for (const std::string& file : files) {
    if (cache_.has(listing.commit, file)) continue;
    const ListedFile& listed = listing.files.at(file);
    missing += listed.size - std::min(listed.size, existing_bytes(cache_.blob(listed.checksum)));
    const std::string url = fmt::format("{}/{}/resolve/{}/{}", settings_.endpoint, source_,
                                        listing.commit, url_text(file, true));
    tasks.push_back(
        std::make_unique<BlobTask>(BlobTask::Source{repository_, listing.commit, file, url, listed},
                                   cache_, [this] { fetcher_.poll(); }));
  }
  if (tasks.empty()) return;
  require_space(cache_.folder(), missing);
  Reporter reporter(options_, repository_, tasks);
  fetcher_.run(tasks, [&](bool waiting) {
    if (report) reporter.tick(waiting);
  });
}

}  // namespace heed::hub
