#include "heed/train/tasks/token_text.h"

#include <numeric>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/train/tasks/hold_out.h"

namespace heed::train {
namespace {

int64_t tokens_in(const std::vector<data::Window>& windows) {
  return std::accumulate(windows.begin(), windows.end(), int64_t{0},
                         [](int64_t sum, const data::Window& w) { return sum + w.length(); });
}

}  // namespace

RawText read_text(const DataConfig& data) {
  RawText text;
  text.train = data::read_documents(data.text, data.document);
  if (!data.valid_text.empty()) text.valid = data::read_documents(data.valid_text, data.document);
  return text;
}

DataFingerprint fingerprint_of(const RawText& text) {
  return {data::fingerprint_of(text.train), data::fingerprint_of(text.valid)};
}

TokenText tokenize(const RawText& text, const text::Tokenizer& tokenizer,
                   const std::vector<int32_t>& suffix, int64_t longest, const TrainConfig& config,
                   Observer& observer) {
  const size_t count = text.train.size();
  auto documents = std::make_shared<std::vector<std::vector<int32_t>>>(count + text.valid.size());
  parallel_for(static_cast<int64_t>(documents->size()), 1, [&](int64_t begin, int64_t end) {
    for (auto d = static_cast<size_t>(begin); d < static_cast<size_t>(end); ++d) {
      std::vector<int32_t>& tokens = (*documents)[d];
      tokens = tokenizer.encode(d < count ? text.train[d] : text.valid[d - count], false);
      tokens.insert(tokens.end(), suffix.begin(), suffix.end());
    }
  });
  TokenText result{documents, {}, {}};
  for (const data::Window& window : data::cut_into_windows(*documents, longest))
    (window.document < static_cast<int64_t>(count) ? result.train : result.valid).push_back(window);
  if (text.valid.empty())
    result.valid = hold_out(result.train, config.data.held_out, config.run.seed, "window");
  for (const auto& [what, windows] :
       {std::pair{"training", &result.train}, {"validation", &result.valid}})
    observer.log(fmt::format("{} text: {} tokens in {} windows of at most {}", what,
                             tokens_in(*windows), windows->size(), longest));
  return result;
}

}  // namespace heed::train
