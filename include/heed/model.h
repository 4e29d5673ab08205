#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention.h"
#include "heed/chat.h"
#include "heed/classification.h"
#include "heed/embedding.h"
#include "heed/export.h"
#include "heed/fill.h"
#include "heed/generation.h"
#include "heed/load_options.h"
#include "heed/model_tasks.h"
#include "heed/score.h"
#include "heed/search.h"
#include "heed/tokenizer.h"
#include "heed/translation.h"

namespace heed {

class Model;

namespace engine {
struct LoadedModel;
const LoadedModel& loaded(const Model& model);
}  // namespace engine

/// A loaded model with its tokenizer and its defaults: a translator, a language model, an encoder.
///
/// Thread safety: a loaded model does not change. Any number of threads may call its functions at
/// once; each call computes on the threads of LoadOptions::executor. A copy shares the weights, and
/// so does what a move leaves behind.
///
/// Every function throws Error when the model cannot do what is asked or an option or an input is
/// out of range, and std::bad_alloc when memory runs out; the model is unchanged then. Texts are
/// UTF-8. Results depend neither on the other inputs of a call nor on the number of threads. Inputs
/// of a call are numbered from `first_number`; an Error names the first bad input by its number.
class HEED_EXPORT Model {
 public:
  /// Opens a model directory (config.json, weights, tokenizer) or a GGUF file. A path that does not
  /// exist may be OWNER/NAME[@REVISION][:FILE.gguf], a model of the Hugging Face hub, which is
  /// downloaded unless the cache holds it (resolve_model(), LoadOptions::hub). Throws Error, naming
  /// the file, when one is missing or damaged. A tokenizer or generation_config.json that cannot be
  /// read is reported by the functions that need it.
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});

  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
  /// Whether both are the same loaded model.
  bool operator==(const Model&) const = default;
  ~Model();

  /// The family, as config.json names it: "llama", "marian", "bert".
  std::string family() const;
  /// What the model can do.
  ModelTasks tasks() const;
  /// Throws Error, which says what the model can do instead, when it is not of a kind that does the
  /// task. What is missing of a suitable model, such as its tokenizer, is said by the task itself.
  void require_task(bool ModelTasks::*task) const;
  /// The options with which it was loaded.
  const LoadOptions& load_options() const;
  /// The threads that compute; never null.
  std::shared_ptr<Executor> executor() const;
  /// Whether it reads an input in both directions: an encoder-decoder, an encoder-only model.
  bool has_encoder() const;
  /// Whether it generates: an encoder-decoder, a decoder-only model.
  bool has_decoder() const;
  /// Largest number of tokens of an input, and of a prompt with its output; 0: not limited.
  int64_t context_length() const;
  /// Tokens are 0 to vocab_size() - 1.
  int64_t vocab_size() const;
  /// D, the number of elements of an embedding.
  int64_t embedding_size(const EmbedOptions& options = {}) const;
  /// The tokens that end an output.
  std::vector<int32_t> eos_ids() const;
  /// The limit of an output that generation_config.json names, which GenerateOptions override.
  /// Throws Error when that file is damaged.
  std::optional<int64_t> max_new_tokens() const;
  /// Whether the model's tokenizer was read.
  bool has_tokenizer() const;
  /// The tokenizer of all texts. Throws Error, which names the `purpose`, when a translator has one
  /// for source and target.
  Tokenizer tokenizer(std::string_view purpose = "this call") const;
  /// The codes of the languages that a multilingual translator translates into; empty for all other
  /// models.
  std::vector<std::string> languages() const;
  /// The languages that can be given for a source; empty if there is no choice (OPUS-MT).
  std::vector<std::string> source_languages() const;
  /// What the model's files say that has no effect, one sentence for each: "FILE: KEY is VALUE and
  /// is ignored: WHY". Empty for most models. What matters and has no effect is an Error of load().
  const std::vector<std::string>& warnings() const;
  /// Compiles what outputs are to match, which otherwise the first of them waits for. Returns the
  /// keywords of a JSON Schema that assert nothing, as JsonSchema::ignored() does. Throws
  /// InputError when it is not valid or cannot be enforced, which names a schema's keyword and JSON
  /// pointer, and when an option is out of range.
  std::vector<std::string> prepare(const GenerateOptions& options) const;
  /// The GPU that it computes on, as LoadOptions::device has chosen: "GPU 0 (NVIDIA H100 80GB
  /// HBM3)". Empty: it computes on the CPU.
  std::string gpu() const;

  /// The token ids of a text, of the source side for a translator. With the tokens that belong
  /// around a text ([CLS] .. [SEP], <s>) if `special`; a translator's end of sequence is always
  /// there.
  std::vector<int32_t> tokenize(std::string_view text, bool special = true) const;
  /// The text of token ids, of the target side for a translator; valid UTF-8. Special tokens are
  /// left out if `skip_special`. Ids outside the vocabulary are refused.
  std::string detokenize(std::span<const int32_t> tokens, bool skip_special = true) const;
  /// A single token for display: its text, or its piece if it belongs to a translator.
  std::string token_text(int32_t token) const;
  /// What a token between others adds to a text of the target side, with its leading space: any
  /// bytes, perhaps a part of a code point. The bytes of an output's tokens, one after the other,
  /// are its text.
  std::string token_bytes(int32_t token) const;

  /// The tokens of a prompt as generate() reads them: with the special tokens of its text, or the
  /// beginning-of-sequence token for an empty one.
  std::vector<int32_t> prompt_tokens(const Prompt& prompt) const;

  /// Receives the output of generate() while it is generated: whole code points, none of which can
  /// still become part of a stop string. Called on the calling thread.
  using OnText = std::function<void(std::string_view text)>;

  /// The output that follows a prompt: a decoder-only model continues it, an encoder-decoder reads
  /// it with its encoder. An empty text is the beginning-of-sequence token if the model has one. An
  /// exception of `on_text` ends the generation and reaches the caller.
  Generation generate(const Prompt& prompt, const GenerateOptions& options = {},
                      const OnText& on_text = {}) const;
  /// The same for many prompts, in batches, which is faster than one by one. The number of a prompt
  /// selects its random numbers, so it has the same output in any call.
  std::vector<Generation> generate_batch(const std::vector<Prompt>& prompts,
                                         const GenerateOptions& options = {},
                                         int64_t first_number = 1) const;
  /// The n_best outputs of each prompt, best first, by beam search. Of `limits`,
  /// max_new_tokens, min_new_tokens, repetition_penalty, end_tokens and batch_tokens count.
  std::vector<std::vector<Candidate>> search_batch(const std::vector<Prompt>& prompts,
                                                   const SearchOptions& options,
                                                   const GenerateOptions& limits = {},
                                                   int64_t first_number = 1) const;

  /// Whether the model has a chat template: it was made for conversations.
  bool has_chat_template() const;
  /// Throws Error, which says why, unless it has one.
  void require_chat_template() const;
  /// The prompt for the answer that follows the messages, made by the model's chat template. The
  /// contents of messages are text, whatever control tokens they may look like
  /// (ChatOptions::control_tokens_in_messages). Its tokens can be given to generate() or a Session,
  /// with answer_options(). If its text begins with that of `earlier`, its tokens begin with those
  /// of `earlier`: for the next turn, append the text and the tokens of the answer to the prompt
  /// before, so that a Session computes only what is new.
  ChatPrompt chat_prompt(const std::vector<ChatMessage>& messages, const ChatOptions& options = {},
                         const ChatPrompt& earlier = {}) const;
  /// Receives the parts of an answer while it is generated. Called on the calling thread.
  using OnAnswer = std::function<void(const ChatAnswer& part)>;
  /// The answer that follows the messages. An exception of `on_answer` ends it.
  ChatResult chat(const std::vector<ChatMessage>& messages, const GenerateOptions& generate = {},
                  const ChatOptions& options = {}, const OnAnswer& on_answer = {}) const;

  /// Translates a line of text; the model must have a vocabulary for each language (source.spm,
  /// target.spm, vocab.json). T5 and BART translate with generate().
  Translation translate(const std::string& line, const TranslateOptions& options = {}) const;
  /// The same for many lines, in batches of similar length.
  std::vector<Translation> translate_batch(const std::vector<std::string>& lines,
                                           const TranslateOptions& options = {},
                                           int64_t first_number = 1) const;
  /// Told how many sentences of a document are translated. Called on the calling thread.
  using OnSentences = std::function<void(int64_t done, int64_t all)>;
  /// Translates a document: the sentences of each paragraph, which in plain text is a line, in
  /// batches over the whole document. Each is translated as translate() does alone, and all else,
  /// such as empty lines, stays. A paragraph without letters is not translated. What separated two
  /// sentences separates their translations, but nothing does in Chinese and Japanese.
  DocumentTranslation translate_document(const std::string& text,
                                         const DocumentOptions& options = {},
                                         const OnSentences& on_sentences = {}) const;
  /// The longest source that the model was trained to translate, in tokens, one example in a
  /// thousand left out, as `heed train` has noted; 0: not known.
  int64_t trained_source_tokens() const;
  /// The tokens that translate() reads of a line, in the languages of `options`; none if the line
  /// has no words, so that nothing comes of it.
  std::vector<int32_t> source_tokens(std::string_view line,
                                     const TranslateOptions& options = {}) const;
  /// What the glossary and the do_not_translate of `options` demand of each line's translation:
  /// what Request::required_texts of a translator takes. Throws InputError on a line that is not
  /// UTF-8 and as translate() does on their terms.
  std::vector<std::vector<RequiredText>> required_texts(const std::vector<std::string>& lines,
                                                        const TranslateOptions& options) const;

  /// The vector [D] of a text: its hidden states after the encoder, or after a decoder-only model,
  /// pooled, and mapped by the modules of a sentence-transformers directory. The empty text has the
  /// vector of its special tokens. A translator cannot embed.
  std::vector<float> embed(const std::string& text, const EmbedOptions& options = {}) const;
  /// The same for many texts, in batches of similar length.
  std::vector<std::vector<float>> embed_batch(const std::vector<std::string>& texts,
                                              const EmbedOptions& options = {},
                                              int64_t first_number = 1) const;
  /// The same, written to `embeddings` [texts.size(), D], one row after the other. Throws Error on
  /// another size. What it holds after any exception is not specified.
  void embed_batch(const std::vector<std::string>& texts, std::span<float> embeddings,
                   const EmbedOptions& options = {}, int64_t first_number = 1) const;
  /// The same for the tokens of texts, as tokens_to_embed() gives them; none may be empty. Throws
  /// InputError when the options have a window.
  std::vector<std::vector<float>> embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                                               const EmbedOptions& options = {},
                                               int64_t first_number = 1) const;
  /// A vector for each window of each text (EmbedOptions::window), in order; a text that fits into
  /// a window has one. Throws InputError without a window.
  std::vector<std::vector<WindowEmbedding>> embed_windows(const std::vector<std::string>& texts,
                                                          const EmbedOptions& options,
                                                          int64_t first_number = 1) const;
  /// A sparse vector of each text, by a SPLADE model (a SparseEncoder of sentence-transformers, or
  /// a masked language model as it is) or by BGE-M3. Throws Error when the model makes none, and
  /// when `options` have a pooling, a normalisation, dimensions or a window.
  std::vector<SparseEmbedding> embed_sparse(const std::vector<std::string>& texts,
                                            const EmbedOptions& options = {},
                                            int64_t first_number = 1) const;
  /// A vector for each token of each text (late interaction), by a MultiVectorEncoder of
  /// sentence-transformers, a model of PyLate or BGE-M3; max_sim() compares them.
  /// EmbedOptions::task says whether they are queries. Throws Error as embed_sparse() does.
  std::vector<MultiVectorEmbedding> embed_multi_vector(const std::vector<std::string>& texts,
                                                       const EmbedOptions& options = {},
                                                       int64_t first_number = 1) const;
  /// The states of the tokens of each text, after the modules of tokens: what embed() pools. Of a
  /// model with a vector for each token the same as embed_multi_vector().
  std::vector<MultiVectorEmbedding> token_embeddings(const std::vector<std::string>& texts,
                                                     const EmbedOptions& options = {},
                                                     int64_t first_number = 1) const;
  /// The tokens that embed() reads of a text: with the model's prompt before it, truncated unless
  /// there is a window.
  std::vector<int32_t> tokens_to_embed(const std::string& text,
                                       const EmbedOptions& options = {}) const;
  /// The number of these tokens before they are truncated.
  int64_t count_tokens_to_embed(const std::string& text, const EmbedOptions& options = {}) const;
  /// The largest number of tokens that embed() reads of a text; 0: not limited.
  int64_t max_embedded_tokens(const EmbedOptions& options = {}) const;
  /// What its files say where EmbedOptions do not. Throws Error when they cannot be read.
  EmbedSettings embed_settings() const;

  /// The labels of a text or of a pair, highest score first, by a model for the classification of
  /// texts (ForSequenceClassification).
  std::vector<LabelScore> classify(const ClassifyInput& text,
                                   const ClassifyOptions& options = {}) const;
  /// The same for many texts, in batches of similar length.
  std::vector<std::vector<LabelScore>> classify_batch(const std::vector<ClassifyInput>& texts,
                                                      const ClassifyOptions& options = {},
                                                      int64_t first_number = 1) const;
  /// Documents by how well they answer a query, best first, by a cross-encoder: a model for the
  /// classification of texts with one label, which reads query and document as a pair. The score is
  /// the sigmoid of the logit, or the logit where the model's files name the activation Identity,
  /// as in sentence-transformers' CrossEncoder. That of a model with a vector for each token is
  /// max_sim() of their vectors.
  std::vector<RankedDocument> rerank(const std::string& query,
                                     const std::vector<std::string>& documents,
                                     const ClassifyOptions& options = {}) const;
  /// The scores of rerank(), in the order of the documents. Throws Error as rerank() does, even
  /// without documents; errors number documents from `first_number`.
  std::vector<double> document_scores(const std::string& query,
                                      const std::vector<std::string>& documents,
                                      const ClassifyOptions& options = {},
                                      int64_t first_number = 1) const;
  /// The logits of the documents, which document_scores() makes scores of; or max_sim(). Throws
  /// Error as it does.
  std::vector<double> document_logits(const std::string& query,
                                      const std::vector<std::string>& documents,
                                      const ClassifyOptions& options = {},
                                      int64_t first_number = 1) const;
  /// The number of tokens of a text or a pair that classify() reads, before they are truncated.
  int64_t count_tokens_to_classify(const ClassifyInput& text) const;
  /// The same for a query and a document that rerank() reads; of the document alone if it is
  /// embedded by itself.
  int64_t count_tokens_to_rerank(const std::string& query, const std::string& document) const;
  /// The largest number of tokens that classify() and rerank() read of an input; 0: not limited.
  int64_t max_classified_tokens(const ClassifyOptions& options = {}) const;
  /// Whether rerank() compares the vectors of the tokens of a query and of a document, which are
  /// embedded by themselves (late interaction). The scores are sums then, not probabilities.
  bool reranks_by_max_sim() const;
  /// The labels of its classifier, in the order of the logits; empty without a classifier.
  std::vector<std::string> labels() const;
  /// Whether its classifier labels tokens, so that it is for label_tokens() and not for classify().
  bool classifies_tokens() const;
  /// The entities of a text, by a model for the classification of tokens
  /// (ForTokenClassification); tokens with the label "O" belong to none.
  LabelledText label_tokens(const std::string& text, const ClassifyOptions& options = {}) const;
  /// The same for many texts, in batches of similar length.
  std::vector<LabelledText> label_tokens_batch(const std::vector<std::string>& texts,
                                               const ClassifyOptions& options = {},
                                               int64_t first_number = 1) const;

  /// The log-probability of each token of a text after the first, by a decoder-only model. The text
  /// has at least 2 tokens. A LoadOptions::cache rounds keys and values as a cache of that type
  /// does.
  Score score(std::string_view text, const ScoreOptions& options = {}) const;
  /// The windows in which score() scores a text, for whoever shares them among machines.
  std::vector<ScoreWindow> score_windows(std::string_view text,
                                         const ScoreOptions& options = {}) const;
  /// The log-probabilities of the last `scored` tokens of a window.
  std::vector<double> score_window(const ScoreWindow& window) const;
  /// tokens[1 ..] given the tokens before them, each with the `top` most probable ones in its
  /// place, by a decoder-only model. Throws Error on more tokens than the context.
  std::vector<TokenScore> score_tokens(std::span<const int32_t> tokens, int64_t top) const;
  /// The log-probability of each token of a target given its source, by an encoder-decoder.
  Score score_pair(std::string_view source, std::string_view target) const;

  /// The `top` most probable tokens for each mask of a text, by an encoder-only model with a
  /// language model head. [MASK] and <mask> are masks for every tokenizer.
  FilledText fill(std::string_view text, int64_t top = 5) const;

  /// The logits of the token after each of `tokens`, by a model with a language model head. An
  /// encoder-decoder reads `source_tokens` with its encoder, other models have none.
  Logits logits(std::span<const int32_t> tokens, std::span<const int32_t> source_tokens = {}) const;

  /// The attention weights of one pass over a text: one map for each layer that `options` selects,
  /// encoder first. Weights that are not finite become 0.
  std::vector<AttentionMap> attention(const std::string& text,
                                      const AttentionOptions& options = {}) const;

 private:
  friend const engine::LoadedModel& engine::loaded(const Model& model);
  explicit Model(std::shared_ptr<const engine::LoadedModel> loaded);

  std::shared_ptr<const engine::LoadedModel> loaded_;
};

}  // namespace heed
