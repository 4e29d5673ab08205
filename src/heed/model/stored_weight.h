#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "heed/tensor/shape.h"

namespace heed::model {

/// How one parameter is stored in a family's files. Several parameters may be parts of one tensor.
struct StoredWeight {
  std::string name;
  Shape shape;  // of the tensor in the file
  /// The file holds the transpose of the matrix (GPT-2's [in, out]), or of each of several ([E, in,
  /// out]), whose rows are counted through.
  bool transposed = false;
  /// How many matrices stand one below the other in such a tensor of two axes, each transposed on
  /// its own ([E in, out]).
  int64_t matrices = 1;
  /// The parameter is the rows [first_row, first_row + rows) of the (transposed) tensor.
  int64_t first_row = 0;
  /// If given, the parameter is blocks of this many rows instead, and each begins `block_stride`
  /// rows after the one before it (GPT-NeoX's queries, keys and values head by head).
  int64_t block_rows = 0, block_stride = 0;
  /// A file may lack it, and then it is zero.
  bool zeros_if_missing = false;
  /// If given, a file may lack it, and then it is this tensor.
  std::string otherwise = {};
  /// If given, a file may have this tensor beside it or alone, and then it is that one.
  std::string preferred = {};
};

/// A name with every `from` that occurs in it replaced, once each and in order.
struct Rename {
  std::string_view from, to;
};
std::string renamed(std::string name, std::initializer_list<Rename> renames);

/// A part of a tensor that holds several projections one below the other.
struct FusedPart {
  std::string_view part, whole;  // in the names of weights: ".q_proj.", ".qkv_proj."
  int64_t first_row, rows;       // of the part; of the whole
};

/// A weight whose name has one of the parts, as those rows of the whole; any other unchanged.
StoredWeight fused(StoredWeight weight, std::initializer_list<FusedPart> parts);

}  // namespace heed::model
