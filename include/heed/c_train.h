#pragma once

/* Quantising and training. */

#include "heed/c_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of heed_quantize(): what the copy is like. */
typedef struct heed_quantize_result heed_quantize_result;

/* As heed::QuantizeOptions. Texts are paths of files; NULL: none. */
typedef struct heed_quantize_options {
  size_t struct_size;
  int32_t weights;                   /* HEED_WEIGHTS_, not F32 */
  int32_t reserved;                  /* 0 */
  const char* calibration_text;      /* its outputs shall change least (GPTQ) */
  const char* calibration_reference; /* its translations, for an encoder-decoder */
  const char* held_out_text;         /* the loss of quality is measured on it */
  const char* held_out_reference;    /* its translations, for an encoder-decoder */
  heed_executor* executor;           /* NULL: one that all share */
  const heed_hub_options* hub;       /* NULL: the environment alone */
} heed_quantize_options;

struct heed_train_step;
struct heed_validation;
/* As heed::TrainOptions and heed::TrainCallbacks. */
typedef struct heed_train_options {
  size_t struct_size;
  const char* out;                /* the directory of the run */
  const char* preset;             /* NULL: chosen by task, model and text */
  const char* config;             /* TOML; NULL: none */
  const char* config_name;        /* of the TOML, in messages; NULL: "the configuration" */
  const char* const* assignments; /* "section.key=value" */
  size_t assignment_count;
  int32_t resume;              /* continues the run in `out` */
  int32_t reserved;            /* 0 */
  heed_executor* executor;     /* NULL: one that all share */
  const heed_hub_options* hub; /* NULL: the environment alone */
  /* Called on the calling thread unless they are NULL. Non-zero saves a checkpoint and ends the run
     with HEED_ERROR_CANCELLED; it can be resumed. */
  int (*on_log)(void* user_data, heed_string line);
  /* After each step. */
  int (*on_step)(void* user_data, const struct heed_train_step* step);
  /* After each validation, once its checkpoint is saved. */
  int (*on_validation)(void* user_data, const struct heed_validation* validation);
  void* user_data;
} heed_train_options;

HEED_EXPORT heed_status heed_quantize_options_init_sized(heed_quantize_options* options,
                                                         size_t size, heed_error* error);
HEED_EXPORT heed_status heed_train_options_init_sized(heed_train_options* options, size_t size,
                                                      heed_error* error);
static inline heed_status heed_quantize_options_init(heed_quantize_options* options) {
  return heed_quantize_options_init_sized(options, sizeof(heed_quantize_options), NULL);
}
static inline heed_status heed_train_options_init(heed_train_options* options) {
  return heed_train_options_init_sized(options, sizeof(heed_train_options), NULL);
}

/* Writes a quantised copy of the model `source` to `target`, which must not exist. `result` may be
   NULL. */
HEED_EXPORT heed_status heed_quantize(const char* source, const char* target,
                                      const heed_quantize_options* options,
                                      heed_quantize_result** result, heed_error* error);

/* What a quantised copy is like. Valid until the result is freed. */
typedef struct heed_quantize_facts {
  size_t struct_size;
  uint64_t bytes_before, bytes_after;                   /* of the files with the weights */
  double bits_per_weight_before, bits_per_weight_after; /* means over all parameters */
  size_t type_count;                                    /* types of matrices */
  heed_string measure; /* "perplexity", "cosine" or "BLEU"; data is NULL without held_out_text */
  heed_string measured_on;           /* "held-out.txt, 21436 tokens" */
  double quality_before;             /* of the model, computed in f32 */
  double quality_after;              /* of the copy with its default arithmetic */
  double quality_after_weights_only; /* of the copy, computed in f32 */
} heed_quantize_facts;

/* What the copy is like. */
HEED_EXPORT heed_status heed_quantize_result_get(heed_quantize_result* result,
                                                 heed_quantize_facts* facts, heed_error* error);
/* The name of a type, and how many matrices have it. */
HEED_EXPORT heed_status heed_quantize_result_type(heed_quantize_result* result, size_t index,
                                                  heed_string* type, int64_t* matrices,
                                                  heed_error* error);
HEED_EXPORT heed_status heed_quantize_result_free(heed_quantize_result* result, heed_error* error);

/* One optimizer step. */
typedef struct heed_train_step {
  size_t struct_size;
  int64_t step, epoch;                                    /* counted from 1; from 0 */
  int64_t planned_steps;                                  /* 0: not known yet */
  double seconds;                                         /* since the run began */
  double seconds_left;                                    /* an estimate */
  double loss;                                            /* per target token, nats */
  double gradient_norm, learning_rate, tokens_per_second; /* the norm is that before clipping */
  int32_t skipped;                                        /* as an outlier */
} heed_train_step;

/* The results of a validation. */
typedef struct heed_validation {
  size_t struct_size;
  int64_t step, epoch;                          /* counted from 1; from 0 */
  double seconds, train_loss, loss, perplexity; /* since the run began; losses in nats per token */
  double bleu, chrf;                            /* NaN where there are no translations */
  int32_t best;                                 /* whether this is the best model so far */
} heed_validation;

/* Trains a model or an adapter, which is then in options->out. */
HEED_EXPORT heed_status heed_train(const heed_train_options* options, heed_error* error);
/* The whole configuration that a new run with these options would have, as TOML, and a NUL. `size`
   leaves out the NUL. */
HEED_EXPORT heed_status heed_training_config(const heed_train_options* options, char* config,
                                             size_t capacity, size_t* size, heed_error* error);

#ifdef __cplusplus
}
#endif
