#pragma once

namespace heed {

/// The tasks of a model, by its architecture, its files and how it was loaded.
struct ModelTasks {
  bool generate = false;            // Model::generate(), Session
  bool chat = false;                // Model::chat()
  bool translate = false;           // Model::translate()
  bool embed = false;               // Model::embed()
  bool embed_sparse = false;        // Model::embed_sparse()
  bool embed_multi_vector = false;  // Model::embed_multi_vector()
  bool classify = false;            // Model::classify()
  bool label_tokens = false;        // Model::label_tokens()
  bool rerank = false;              // Model::rerank()
  bool score = false;               // Model::score() or, of an encoder-decoder, score_pair()
  bool fill = false;                // Model::fill()
  bool attention = false;           // Model::attention()

  bool operator==(const ModelTasks&) const = default;
};

}  // namespace heed
