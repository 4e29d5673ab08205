#pragma once

#include <filesystem>
#include <optional>

#include "heed/tasks/logit_score.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// Qwen3-Reranker (Zhang et al. 2025) as its authors publish it: a language model of Qwen3 without
/// modules.json, whose template and answers, "yes" and "no", only its model card says. Nothing in
/// its files tells it from other models of Qwen3, so it is known by its name, as llama.cpp's
/// converter does: a part of the path has "Qwen3-Reranker". None for other models. Throws Error
/// when the tokenizer lacks an answer.
std::optional<LogitScore> qwen3_reranker(const std::filesystem::path& model_path,
                                         const text::Tokenizer& tokenizer);

}  // namespace heed::tasks
