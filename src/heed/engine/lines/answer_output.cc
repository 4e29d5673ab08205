#include "heed/engine/lines/answer_output.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/file_lock.h"
#include "heed/base/json.h"
#include "heed/base/output_file.h"
#include "heed/base/parse_number.h"

namespace heed::engine {
namespace {

constexpr std::chrono::seconds kProgressInterval{1};

/// JSON's numbers are doubles for many readers.
std::string hexadecimal(uint64_t number) { return fmt::format("{:016x}", number); }

uint64_t number_of(const std::string& text, const std::string& file) {
  const auto number = parse_hexadecimal<uint64_t>(text);
  require(number.has_value(), "{}: expected a hexadecimal number, found another text", file);
  return *number;
}

}  // namespace

AnswerOutput::AnswerOutput(size_t columns, std::filesystem::path path, uint64_t model)
    : path_(std::move(path)), progress_path_(path_.string() + ".progress"), model_(model) {
  progress_.sums.resize(columns);
  require_output_file("LineOptions::resume", path_);
  const bool exists = path_exists(path_);
  lock_ = try_lock_file(path_);
  require(lock_.has_value(), "{}: another run of heed writes it", path_.string());
  if (exists && std::filesystem::file_size(path_) > 0) read_progress();
  std::error_code failed;
  std::filesystem::resize_file(path_, static_cast<uintmax_t>(bytes_), failed);
  require(!failed, "{}: {}", path_.string(), failed.message());
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) fail_system(path_, "cannot be written");
  written_ = bytes_;
  sums_ = progress_.sums;
  write_progress();
}

void AnswerOutput::read_progress() {
  const std::string name = progress_path_.string();
  require(path_exists(progress_path_), "{} has no {} beside it: it cannot be continued",
          path_.string(), name);
  const nlohmann::json json = parse_json(read_file(progress_path_), name);
  progress_.lines = get<int64_t>(json, "lines", name);
  progress_.hash = number_of(get<std::string>(json, "input", name), name);
  const size_t columns = progress_.sums.size();
  progress_.sums = get<std::vector<double>>(json, "sums", name);
  require(progress_.sums.size() == columns, "{} is of another command", name);
  bytes_ = get<int64_t>(json, "bytes", name);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path_));
  require(progress_.lines >= 0 && bytes_ >= 0 && bytes_ <= size,
          "{} has {} bytes, fewer than the {} of which {} knows", path_.string(), size, bytes_,
          name);
  require(number_of(get<std::string>(json, "model", name), name) == model_,
          "{} was begun with another model, or another build of heed", path_.string());
}

void AnswerOutput::require_same_lines(int64_t lines, uint64_t hash,
                                      const std::string& input) const {
  require(lines == progress_.lines, "{} has fewer lines than {} answers: {}, not {}", input,
          path_.string(), lines, progress_.lines);
  require(hash == progress_.hash, "{} answers other lines than the first {} of {}", path_.string(),
          lines, input);
}

void AnswerOutput::put(const std::vector<LineAnswer>& answers) {
  for (const auto& [text, rows] : answers) {
    if (!sums_.empty())
      for (size_t i = 0; i < rows.size(); ++i) sums_[i % sums_.size()] += rows[i];
    written_ += static_cast<int64_t>(text.size());
    if (file_ && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
      fail_system(path_, "cannot be written");
  }
  if (!file_) return write_(answers);
  if (std::fflush(file_.get()) != 0) fail_system(path_, "cannot be written");
}

void AnswerOutput::set_progress(int64_t lines, uint64_t hash) {
  progress_.lines = lines;
  progress_.hash = hash;
  progress_.sums = sums_;
  bytes_ = written_;
  if (Clock::now() - progress_written_ > kProgressInterval) write_progress();
}

void AnswerOutput::finish() { write_progress(); }

/// The answers reach the disk before the progress that counts them.
void AnswerOutput::write_progress() {
  if (!file_) return;
  progress_written_ = Clock::now();
  if (::fdatasync(::fileno(file_.get())) != 0) fail_system(path_, "cannot be written");
  const nlohmann::json json{{"lines", progress_.lines},
                            {"bytes", bytes_},
                            {"sums", progress_.sums},
                            {"input", hexadecimal(progress_.hash)},
                            {"model", hexadecimal(model_)}};
  write_file_atomically(progress_path_, dump_json(json) + '\n');
}

}  // namespace heed::engine
