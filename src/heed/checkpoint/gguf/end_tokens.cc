#include "heed/checkpoint/gguf/end_tokens.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace heed::checkpoint {
namespace {

constexpr const char* kRoles[] = {"eos", "eot", "eom"};

/// Tokens that end a fill-in-the-middle (FIM) completion: one by its role, or else all by text.
struct FimEnd {
  const char* role;
  std::vector<std::string_view> texts;
};
const FimEnd kFimEnds[] = {
    {"fim_pad", {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {"fim_rep", {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {"fim_sep", {"<|file_sep|>"}}};

constexpr std::string_view kTexts[] = {"<|eot_id|>",
                                       "<|im_end|>",
                                       "<|end|>",
                                       "<|return|>",
                                       "<|call|>",
                                       "<|flush|>",
                                       "<|calls|>",
                                       "<end_of_turn>",
                                       "<|endoftext|>",
                                       "</s>",
                                       "<|eom_id|>",
                                       "<EOT>",
                                       "_<EOT>",
                                       "[EOT]",
                                       "[EOS]",
                                       "<|end_of_text|>",
                                       "<end_of_utterance>",
                                       "<eos>",
                                       "<turn|>",
                                       "<|tool_response>",
                                       "<｜end▁of▁sentence｜>",
                                       "[e~["};

/// Collects the end-of-generation tokens of a file.
class EndTokens {
 public:
  explicit EndTokens(const io::GgufMetadata& metadata) : metadata_(metadata) {
    constexpr const char* kTokens = "tokenizer.ggml.tokens";
    if (!metadata.contains(kTokens)) return;
    const auto pieces = metadata.get<std::vector<std::string_view>>(kTokens);
    size_ = std::ssize(pieces);
    std::set<std::string_view> wanted(std::begin(kTexts), std::end(kTexts));
    for (const FimEnd& end : kFimEnds) wanted.insert(end.texts.begin(), end.texts.end());
    for (size_t id = 0; id < pieces.size(); ++id)
      if (wanted.contains(pieces[id])) found_.emplace(pieces[id], static_cast<int64_t>(id));
  }

  bool has(std::string_view text) const { return found_.contains(text); }

  void add_text(std::string_view text) {
    if (const auto found = found_.find(text); found != found_.end()) ids_.insert(found->second);
  }
  /// Returns whether the file names a token of this role.
  bool add_role(const std::string& role) {
    const std::string key = "tokenizer.ggml." + role + "_token_id";
    if (!metadata_.contains(key)) return false;
    const auto id = metadata_.get<int64_t>(key);
    if (id < 0 || id >= size_) return false;
    ids_.insert(id);
    return true;
  }
  void remove(std::string_view text) {
    if (const auto found = found_.find(text); found != found_.end()) ids_.erase(found->second);
  }

  std::vector<int64_t> ids() const { return {ids_.begin(), ids_.end()}; }

 private:
  const io::GgufMetadata& metadata_;
  int64_t size_ = 0;
  std::map<std::string_view, int64_t> found_;
  std::set<int64_t> ids_;
};

}  // namespace

bool is_gguf_end_text(std::string_view text) {
  return std::ranges::find(kTexts, text) != std::end(kTexts) ||
         std::ranges::any_of(kFimEnds, [text](const FimEnd& end) {
           return std::ranges::find(end.texts, text) != end.texts.end();
         });
}

std::vector<int64_t> gguf_end_tokens(const io::GgufMetadata& metadata) {
  EndTokens tokens(metadata);
  for (const std::string_view text : kTexts) tokens.add_text(text);
  for (const FimEnd& end : kFimEnds) {
    if (tokens.add_role(end.role)) continue;
    for (const std::string_view text : end.texts) tokens.add_text(text);
  }
  for (const char* role : kRoles) tokens.add_role(role);
  // gpt-oss and Solar Open continue after <|end|>, and Gemma 4 uses </s> for something else.
  const bool calls = tokens.has("<|call|>") || tokens.has("<|calls|>");
  if (calls && (tokens.has("<|return|>") || tokens.has("<|flush|>"))) tokens.remove("<|end|>");
  if (tokens.has("<|tool_response>")) tokens.remove("</s>");
  return tokens.ids();
}

}  // namespace heed::checkpoint
