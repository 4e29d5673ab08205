#include "cli/options/model_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/model_tasks.h"

namespace heed::cli {
namespace {

struct TaskWords {
  bool ModelTasks::*task;
  const char *verb, *command, *suitable;
};

constexpr TaskWords kTasks[] = {
    {&ModelTasks::chat, "chat", "chat", "a decoder-only model with a chat template"},
    {&ModelTasks::generate, "generate", "generate", "a decoder-only model"},
    {&ModelTasks::translate, "translate", "translate", "an encoder-decoder for translation"},
    {&ModelTasks::embed, "embed", "embed", "an encoder-only or a decoder-only model"},
    {&ModelTasks::embed_sparse, "embed sparsely", "embed --sparse",
     "a SparseEncoder of sentence-transformers, a masked language model or BGE-M3"},
    {&ModelTasks::embed_multi_vector, "embed each token", "embed --multi-vector",
     "a MultiVectorEncoder of sentence-transformers, a model of PyLate or BGE-M3"},
    {&ModelTasks::rerank, "rerank", "rerank",
     "a cross-encoder (a classifier with one label), a model that answers yes or no, or one with a "
     "vector for each token"},
    {&ModelTasks::classify, "classify texts", "classify",
     "a model for the classification of texts"},
    {&ModelTasks::label_tokens, "label tokens", "classify",
     "a model for the classification of tokens"},
    {&ModelTasks::fill, "fill masks", "fill",
     "an encoder-only model with a language model head (BERT, RoBERTa)"},
    {&ModelTasks::score, "score texts", "score", "a model with a decoder"},
    {&ModelTasks::attention, "show attention", "attend", "a model with a tokenizer"},
};

}  // namespace

void require_task(const Model& model, const std::string& name, bool ModelTasks::*task) {
  const ModelTasks tasks = model.tasks();
  // Every model shows its attention, unless its tokenizer or its type of activations forbids most.
  const bool kind_decides = tasks.attention || task == &ModelTasks::generate;
  if (tasks.*task || !kind_decides) return;
  const TaskWords& asked = *std::ranges::find(kTasks, task, &TaskWords::task);
  std::vector<std::string> others;
  for (const TaskWords& one : kTasks)
    if (tasks.*one.task) others.push_back(fmt::format("{} (heed {})", one.verb, one.command));
  fail("{} cannot {}, expected {}; it can {}", one_line(name), asked.verb, asked.suitable,
       others.empty() ? "print logits (heed logits)" : fmt::format("{}", fmt::join(others, ", ")));
}

}  // namespace heed::cli
