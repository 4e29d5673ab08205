#pragma once

#include "cli/options/command.h"
#include "heed/translation.h"

namespace heed {
class Model;
}

namespace heed::cli {

class Review;

/// Options of `heed translate --document`. Those of translations are shared with lines.
struct DocumentArguments {
  bool document = false;
  DocumentOptions options;
};

/// Adds --document, which it returns, and the options that need it.
Option add_document_options(Command& command, DocumentArguments& arguments);

/// Translates standard input as a document, with a bar of its progress on a terminal. `review` gets
/// its sentences.
void translate_document(const Model& model, const DocumentOptions& options, Review& review);

}  // namespace heed::cli
