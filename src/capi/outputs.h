#pragma once

#include <string>
#include <vector>

#include "capi/handles.h"
#include "capi/values.h"
#include "heed/c_generate.h"
#include "heed/chat.h"
#include "heed/generation.h"
#include "heed/search.h"
#include "heed/translation.h"

namespace heed::capi {

// Outputs, and what C callers see of them: structs whose pointers are valid as long as the output
// exists and does not move.

class StoredGeneration {
 public:
  explicit StoredGeneration(Generation generation);
  heed_generation view() const;

 private:
  Generation generation_;
  std::vector<heed_token_log_probability> chosen_, best_;
  std::vector<size_t> best_offsets_;
};

class StoredCandidate {
 public:
  explicit StoredCandidate(Candidate candidate);
  heed_candidate view() const;
  bool has_confidence() const { return candidate_.confidence.has_value(); }
  /// Of a candidate that has one.
  heed_confidence confidence() const;

 private:
  Candidate candidate_;
  std::vector<heed_aligned_words> alignment_;
  std::vector<heed_word_confidence> words_;
};

/// The candidates for one input.
struct FoundCandidates {
  std::vector<int32_t> source;  // empty unless a translator read it
  std::vector<StoredCandidate> candidates;
};

std::vector<StoredCandidate> stored(std::vector<Candidate> candidates);

class StoredAnswer {
 public:
  explicit StoredAnswer(ChatAnswer answer);
  StoredAnswer(const StoredAnswer&) = delete;
  StoredAnswer& operator=(const StoredAnswer&) = delete;
  heed_chat_answer view() const;

 private:
  ChatAnswer answer_;
  std::vector<heed_tool_call> tool_calls_;
};

template <>
struct HandleOf<heed_generate_result> {
  using Object = std::vector<StoredGeneration>;
  static constexpr const char* kName = "result of heed_generate()";
};

template <>
struct HandleOf<heed_search_result> {
  using Object = std::vector<FoundCandidates>;
  static constexpr const char* kName = "result of heed_search()";
};

template <>
struct HandleOf<heed_document_result> {
  using Object = DocumentTranslation;
  static constexpr const char* kName = "result of heed_translate_document()";
};

struct StoredChat {
  StoredAnswer answer;
  StoredGeneration generation;
};

template <>
struct HandleOf<heed_chat_result> {
  using Object = StoredChat;
  static constexpr const char* kName = "result of heed_chat()";
};

}  // namespace heed::capi
