#pragma once

#include "cli/options/command.h"
#include "heed/translation.h"

namespace heed {
class Model;
}

namespace heed::cli {

/// Options of `heed translate --document`. Those of translations are shared with lines.
struct DocumentArguments {
  bool document = false;
  DocumentOptions options;
};

/// Adds --document, which it returns, and the options that need it.
Option add_document_options(Command& command, DocumentArguments& arguments);

/// Translates standard input as a document, with a bar of its progress on a terminal.
void translate_document(const Model& model, const DocumentOptions& options);

}  // namespace heed::cli
