#include "heed/score.h"

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_read.h"
#include "heed/tasks/task_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_score_options, ScoreOptions, HEED_SCORE_OPTIONS)

template <>
struct HandleOf<heed_score_result> {
  using Object = Score;
  static constexpr const char* kName = "result of heed_score()";
};

/// A filled text, and its candidates as C callers read them.
struct StoredFill {
  explicit StoredFill(FilledText filled) : text(std::move(filled)) {
    for (const FilledMask& mask : text.masks) {
      std::vector<heed_token_probability>& best = candidates.emplace_back();
      for (const TokenProbability& candidate : mask.best)
        best.push_back({.token = candidate.token, .probability = candidate.probability});
    }
  }

  FilledText text;
  std::vector<std::vector<heed_token_probability>> candidates;  // of each mask
};

template <>
struct HandleOf<heed_fill_result> {
  using Object = StoredFill;
  static constexpr const char* kName = "result of heed_fill()";
};

}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_score_options)

heed_status heed_score(heed_model* model, heed_string text, const heed_score_options* options,
                       heed_score_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    set_handle(result, std::make_shared<heed::Score>(
                           loaded.score(text_of(text, "text"), options_of(read_sized(options)))));
  });
}

heed_status heed_score_pair(heed_model* model, heed_string source, heed_string target,
                            heed_score_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    set_handle(result, std::make_shared<heed::Score>(loaded.score_pair(text_of(source, "source"),
                                                                       text_of(target, "target"))));
  });
}

heed_status heed_score_result_get(heed_score_result* result, heed_text_score* score,
                                  heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    write_sized(score,
                {.struct_size = 0,
                 .tokens = object->tokens.data(),
                 .token_count = object->tokens.size(),
                 .log_probabilities = object->log_probabilities.data(),
                 .log_probability_count = object->log_probabilities.size(),
                 .log_probability = object->log_probability(),
                 .perplexity = object->perplexity()},
                "score");
  });
}

HEED_DEFINE_FREE(heed_score_result)

heed_status heed_fill(heed_model* model, heed_string text, int64_t top, heed_fill_result** result,
                      heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    set_handle(result, std::make_shared<StoredFill>(loaded.fill(text_of(text, "text"), top)));
  });
}

heed_status heed_fill_result_get(heed_fill_result* result, heed_filled_text* text,
                                 heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    write_sized(text,
                {.struct_size = 0,
                 .tokens = object->text.tokens.data(),
                 .token_count = object->text.tokens.size(),
                 .mask_count = object->text.masks.size()},
                "text");
  });
}

heed_status heed_fill_result_mask(heed_fill_result* result, size_t index, heed_filled_mask* mask,
                                  heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const std::vector<heed_token_probability>& best = element(object->candidates, index);
    write_sized(mask,
                {.struct_size = 0,
                 .position = object->text.masks[index].position,
                 .best = best.data(),
                 .best_count = best.size()},
                "mask");
  });
}

HEED_DEFINE_FREE(heed_fill_result)
