#pragma once

#include <optional>

#include "heed/answer_format.h"
#include "heed/constrain/grammar.h"
#include "heed/text/tokenizer.h"

namespace heed::chat {

/// Whether a format alone demands something of an answer: calls, arguments that match, or one call
/// at most.
bool restricts_answers(const AnswerFormat& format);

/// Adds the texts that answers of a format may be: reasoning, where the model shows any; then
/// `content`, or without it any text, or calls in the syntax of the format. AnswerReader reads each
/// of these texts, and finds no malformed call. A mark that is a special token of `tokenizer` is
/// written as one. Arguments match the schema of their function where a call is demanded, or the
/// function is strict. Throws InputError that begins with "tools" and names the function for a
/// schema that cannot be enforced or does not describe objects.
constrain::Symbol add_answer(constrain::GrammarBuilder& builder, const AnswerFormat& format,
                             const text::Tokenizer& tokenizer,
                             std::optional<constrain::Symbol> content);

}  // namespace heed::chat
