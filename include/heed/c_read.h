#pragma once

/* What models read out of texts: embeddings, labels, probabilities, masked words, attention; and
   the language of a text. */

#include "heed/c_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of heed_embed_sparse(): a sparse vector of each text. */
typedef struct heed_sparse_result heed_sparse_result;
/* Of heed_embed_multi_vector(): a vector for each token of each text. */
typedef struct heed_multi_vector_result heed_multi_vector_result;
/* Of heed_classify(): the labels of each text. */
typedef struct heed_classify_result heed_classify_result;
/* Of heed_label_tokens(): the entities of each text. */
typedef struct heed_label_result heed_label_result;
/* Of heed_score() and heed_score_pair(): the probability of a text. */
typedef struct heed_score_result heed_score_result;
/* Of heed_fill(): candidates for each mask. */
typedef struct heed_fill_result heed_fill_result;
/* Of heed_attention(): a map for each layer. */
typedef struct heed_attention_result heed_attention_result;

/* How the hidden states of tokens become one vector, as heed::Pooling. */
enum {
  HEED_POOLING_MEAN = 0,
  HEED_POOLING_CLS = 1,
  HEED_POOLING_MAX = 2,
  HEED_POOLING_POOLER = 3,
  HEED_POOLING_LAST = 4,
  HEED_POOLING_MEAN_SQRT_LEN_TOKENS = 5,
  HEED_POOLING_WEIGHTEDMEAN = 6
};

/* What a text is for, as heed::EmbedTask. */
enum { HEED_EMBED_TASK_QUERY = 0, HEED_EMBED_TASK_DOCUMENT = 1 };

/* As heed::EmbedOptions. */
typedef struct heed_embed_options {
  size_t struct_size;
  int32_t pooling;         /* HEED_POOLING_ or HEED_DEFAULT */
  int32_t normalize;       /* 0, 1 or HEED_DEFAULT */
  int64_t max_seq_length;  /* tokens or HEED_DEFAULT */
  int64_t batch_tokens;    /* largest number of tokens of a batch; 0: chosen for the device */
  int64_t first_number;    /* of the first text, in errors */
  const char* prompt;      /* before each text; NULL: the default prompt of the files */
  const char* prompt_name; /* the same by its name in the files; NULL: none */
  int64_t dimensions;      /* the first elements of a vector, or HEED_DEFAULT */
  int32_t task;            /* HEED_EMBED_TASK_ or HEED_DEFAULT */
  int32_t reserved;        /* 0 */
  int64_t window;          /* longer texts are read in windows of so many tokens, or HEED_DEFAULT */
  int64_t overlap;         /* tokens that a window has in common with the one before */
} heed_embed_options;

/* As heed::ClassifyOptions. */
typedef struct heed_classify_options {
  size_t struct_size;
  int64_t max_seq_length; /* tokens or HEED_DEFAULT */
  int64_t batch_tokens;   /* largest number of tokens of a batch; 0: chosen for the device */
  int64_t first_number;   /* of the first text, in errors */
  const char* prompt;     /* of heed_rerank(), before the query; NULL: that of the files */
} heed_classify_options;

/* As heed::ScoreOptions. */
typedef struct heed_score_options {
  size_t struct_size;
  int64_t window; /* tokens; 0: the model's context length */
  int64_t stride; /* 0: half the window */
} heed_score_options;

/* Which tokens look at which, as heed::AttentionKind. */
enum { HEED_ATTENTION_ENCODER_SELF = 0, HEED_ATTENTION_DECODER_SELF = 1, HEED_ATTENTION_CROSS = 2 };

/* As heed::AttentionOptions. */
typedef struct heed_attention_options {
  size_t struct_size;
  heed_string target;          /* of an encoder-decoder; empty: its greedy output */
  const char* source_language; /* of a multilingual translator; NULL: that of its files */
  const char* target_language; /* likewise */
  int32_t kind;                /* HEED_ATTENTION_ or HEED_DEFAULT: all */
  int32_t layer, head;         /* counted from 0, or HEED_DEFAULT: all */
  int32_t reserved;            /* 0 */
  int64_t max_weights;         /* HEED_ERROR_FAILED if there are more */
} heed_attention_options;

HEED_EXPORT heed_status heed_embed_options_init_sized(heed_embed_options* options, size_t size,
                                                      heed_error* error);
HEED_EXPORT heed_status heed_classify_options_init_sized(heed_classify_options* options,
                                                         size_t size, heed_error* error);
HEED_EXPORT heed_status heed_score_options_init_sized(heed_score_options* options, size_t size,
                                                      heed_error* error);
HEED_EXPORT heed_status heed_attention_options_init_sized(heed_attention_options* options,
                                                          size_t size, heed_error* error);
static inline heed_status heed_embed_options_init(heed_embed_options* options) {
  return heed_embed_options_init_sized(options, sizeof(heed_embed_options), NULL);
}
static inline heed_status heed_classify_options_init(heed_classify_options* options) {
  return heed_classify_options_init_sized(options, sizeof(heed_classify_options), NULL);
}
static inline heed_status heed_score_options_init(heed_score_options* options) {
  return heed_score_options_init_sized(options, sizeof(heed_score_options), NULL);
}
static inline heed_status heed_attention_options_init(heed_attention_options* options) {
  return heed_attention_options_init_sized(options, sizeof(heed_attention_options), NULL);
}

/* Writes the vectors of texts, [count, embedding_size] floats or, if the options say
   so, [count, dimensions], which must fit into `capacity`. What `vectors` holds after an error is
   not specified. */
HEED_EXPORT heed_status heed_embed(heed_model* model, const heed_string* texts, size_t count,
                                   const heed_embed_options* options, float* vectors,
                                   size_t capacity, heed_error* error);

/* A vector over the vocabulary, most elements of which are zero, as heed::SparseEmbedding. */
typedef struct heed_sparse_embedding {
  size_t struct_size;
  const int32_t* indices; /* the tokens with an element above zero, ascending */
  const float* values;    /* their elements */
  size_t count;           /* of indices and values */
} heed_sparse_embedding;

/* A vector for each token of a text, as heed::MultiVectorEmbedding. */
typedef struct heed_multi_vector_embedding {
  size_t struct_size;
  const int32_t* tokens; /* those that have a vector */
  size_t token_count;
  const float* values; /* [token_count, dimension] */
  int64_t dimension;   /* elements of each vector */
} heed_multi_vector_embedding;

/* Sparse vectors of texts, by a SPLADE model or BGE-M3. */
HEED_EXPORT heed_status heed_embed_sparse(heed_model* model, const heed_string* texts, size_t count,
                                          const heed_embed_options* options,
                                          heed_sparse_result** result, heed_error* error);
/* The number of texts. */
HEED_EXPORT heed_status heed_sparse_result_count(heed_sparse_result* result, size_t* count,
                                                 heed_error* error);
/* The vector of a text. */
HEED_EXPORT heed_status heed_sparse_result_get(heed_sparse_result* result, size_t text,
                                               heed_sparse_embedding* embedding, heed_error* error);
HEED_EXPORT heed_status heed_sparse_result_free(heed_sparse_result* result, heed_error* error);

/* A vector for each token of each text, by a model for late interaction (ColBERT, BGE-M3);
   options->task says whether the texts are queries. */
HEED_EXPORT heed_status heed_embed_multi_vector(heed_model* model, const heed_string* texts,
                                                size_t count, const heed_embed_options* options,
                                                heed_multi_vector_result** result,
                                                heed_error* error);
/* The number of texts. */
HEED_EXPORT heed_status heed_multi_vector_result_count(heed_multi_vector_result* result,
                                                       size_t* count, heed_error* error);
/* The vectors of a text. */
HEED_EXPORT heed_status heed_multi_vector_result_get(heed_multi_vector_result* result, size_t text,
                                                     heed_multi_vector_embedding* embedding,
                                                     heed_error* error);
HEED_EXPORT heed_status heed_multi_vector_result_free(heed_multi_vector_result* result,
                                                      heed_error* error);
/* The score of a document of one result for a query of another (MaxSim), as heed::max_sim(). */
HEED_EXPORT heed_status heed_max_sim(heed_multi_vector_result* queries, size_t query,
                                     heed_multi_vector_result* documents, size_t document,
                                     double* score, heed_error* error);

/* A text, or with second.data not NULL a pair of texts. */
typedef struct heed_text_pair {
  heed_string first, second; /* data of the second is NULL for a single text */
} heed_text_pair;

/* A label and its score. */
typedef struct heed_label_score {
  size_t struct_size;
  heed_string label; /* its name in config.json */
  double score;      /* the probability; of a regression the value */
} heed_label_score;

/* The labels of texts or pairs. */
HEED_EXPORT heed_status heed_classify(heed_model* model, const heed_text_pair* texts, size_t count,
                                      const heed_classify_options* options,
                                      heed_classify_result** result, heed_error* error);
/* The number of texts. */
HEED_EXPORT heed_status heed_classify_result_count(heed_classify_result* result, size_t* count,
                                                   heed_error* error);
/* The number of labels of a text. */
HEED_EXPORT heed_status heed_classify_result_labels(heed_classify_result* result, size_t text,
                                                    size_t* count, heed_error* error);
/* Label `index` of a text, highest score first. */
HEED_EXPORT heed_status heed_classify_result_get(heed_classify_result* result, size_t text,
                                                 size_t index, heed_label_score* label,
                                                 heed_error* error);
HEED_EXPORT heed_status heed_classify_result_free(heed_classify_result* result, heed_error* error);

/* A document and how well it answers a query. */
typedef struct heed_ranked_document {
  int64_t index; /* among the documents, from 0 */
  double score;  /* a probability, or the logit, as Model::rerank() says */
} heed_ranked_document;

/* Writes `count` entries: documents by how well they answer a query, best first. */
HEED_EXPORT heed_status heed_rerank(heed_model* model, heed_string query,
                                    const heed_string* documents, size_t count,
                                    const heed_classify_options* options,
                                    heed_ranked_document* ranking, heed_error* error);

/* A text and the number of its entities. */
typedef struct heed_labelled_text {
  size_t struct_size;
  const int32_t* tokens; /* with special tokens */
  size_t token_count;
  size_t entity_count;
} heed_labelled_text;

/* Neighbouring tokens with the same label. */
typedef struct heed_entity {
  size_t struct_size;
  heed_string label, text;        /* without "B-" and "I-"; of the tokens, decoded */
  double score;                   /* the mean of the tokens' probabilities */
  int64_t first_token, end_token; /* of the tokens */
  int64_t start, end;             /* of the given text, in code points */
} heed_entity;

/* The entities of texts, by a model for the classification of tokens. */
HEED_EXPORT heed_status heed_label_tokens(heed_model* model, const heed_string* texts, size_t count,
                                          const heed_classify_options* options,
                                          heed_label_result** result, heed_error* error);
/* The number of texts. */
HEED_EXPORT heed_status heed_label_result_count(heed_label_result* result, size_t* count,
                                                heed_error* error);
/* The tokens of a text, and how many entities it has. */
HEED_EXPORT heed_status heed_label_result_get(heed_label_result* result, size_t text,
                                              heed_labelled_text* labelled, heed_error* error);
/* Entity `index` of a text, in order. */
HEED_EXPORT heed_status heed_label_result_entity(heed_label_result* result, size_t text,
                                                 size_t index, heed_entity* entity,
                                                 heed_error* error);
HEED_EXPORT heed_status heed_label_result_free(heed_label_result* result, heed_error* error);

/* The probability of a text: log_probabilities are of its last log_probability_count tokens. */
typedef struct heed_text_score {
  size_t struct_size;
  const int32_t* tokens; /* token ids */
  size_t token_count;
  const double* log_probabilities; /* natural */
  size_t log_probability_count;
  double log_probability; /* their sum */
  double perplexity;      /* exp(-log_probability / log_probability_count) */
} heed_text_score;

/* The log-probability of each token of a text after the first, by a decoder-only model. */
HEED_EXPORT heed_status heed_score(heed_model* model, heed_string text,
                                   const heed_score_options* options, heed_score_result** result,
                                   heed_error* error);
/* The log-probability of each token of a target given its source, by an encoder-decoder. */
HEED_EXPORT heed_status heed_score_pair(heed_model* model, heed_string source, heed_string target,
                                        heed_score_result** result, heed_error* error);
/* The tokens and their log-probabilities. */
HEED_EXPORT heed_status heed_score_result_get(heed_score_result* result, heed_text_score* score,
                                              heed_error* error);
HEED_EXPORT heed_status heed_score_result_free(heed_score_result* result, heed_error* error);

/* A candidate and its probability. */
typedef struct heed_token_probability {
  int32_t token;      /* a token id */
  double probability; /* of all tokens */
} heed_token_probability;

/* A text with masks. */
typedef struct heed_filled_text {
  size_t struct_size;
  const int32_t* tokens; /* with special tokens */
  size_t token_count;
  size_t mask_count;
} heed_filled_text;

/* Candidates for a masked token. */
typedef struct heed_filled_mask {
  size_t struct_size;
  int64_t position;                   /* in the tokens */
  const heed_token_probability* best; /* most probable first */
  size_t best_count;
} heed_filled_mask;

/* The `top` most probable tokens for each mask of a text ([MASK] or <mask>). */
HEED_EXPORT heed_status heed_fill(heed_model* model, heed_string text, int64_t top,
                                  heed_fill_result** result, heed_error* error);
/* The tokens of the text, and how many masks it has. */
HEED_EXPORT heed_status heed_fill_result_get(heed_fill_result* result, heed_filled_text* text,
                                             heed_error* error);
/* Mask `index`, in order of position. */
HEED_EXPORT heed_status heed_fill_result_mask(heed_fill_result* result, size_t index,
                                              heed_filled_mask* mask, heed_error* error);
HEED_EXPORT heed_status heed_fill_result_free(heed_fill_result* result, heed_error* error);

/* The attention weights of one layer. */
typedef struct heed_attention_map {
  size_t struct_size;
  int32_t kind;               /* HEED_ATTENTION_ */
  int32_t layer, first_head;  /* counted from 0 */
  int64_t heads;              /* H */
  const heed_string* queries; /* the tokens that look, as text */
  size_t query_count;         /* Tq */
  const heed_string* keys;    /* the tokens that are looked at */
  size_t key_count;           /* Tk */
  const float* weights;       /* [H, Tq, Tk] */
} heed_attention_map;

/* The attention weights of one pass over a text. */
HEED_EXPORT heed_status heed_attention(heed_model* model, heed_string text,
                                       const heed_attention_options* options,
                                       heed_attention_result** result, heed_error* error);
/* The number of maps. */
HEED_EXPORT heed_status heed_attention_result_count(heed_attention_result* result, size_t* count,
                                                    heed_error* error);
/* Map `index`, encoder first. */
HEED_EXPORT heed_status heed_attention_result_get(heed_attention_result* result, size_t index,
                                                  heed_attention_map* map, heed_error* error);
HEED_EXPORT heed_status heed_attention_result_free(heed_attention_result* result,
                                                   heed_error* error);

/* A language that a text may be in, as heed::DetectedLanguage. */
typedef struct heed_detected_language {
  const char* code;   /* ISO 639-1, in two letters; valid for as long as the program runs */
  double probability; /* 0 to 1 */
} heed_detected_language;

/* Writes the languages that a text may be in, most probable first and at most `capacity` of them;
   `count` becomes the number of those. `among`, if `among_count` is not 0, are the codes that come
   into question. None are written when there is nothing to tell the language by: no letters, or
   most of them from scripts that heed does not know. Needs no model. */
HEED_EXPORT heed_status heed_detect_language(heed_string text, const heed_string* among,
                                             size_t among_count, heed_detected_language* languages,
                                             size_t capacity, size_t* count, heed_error* error);

#ifdef __cplusplus
}
#endif
