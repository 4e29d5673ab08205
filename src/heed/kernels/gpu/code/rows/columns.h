#pragma once

// The arguments of the kernels in columns.cu.
namespace heed::kernels::gpu {

/// The columns of a tensor [rows, columns] that belong to heads: see HeadColumns. A kernel's name
/// says in which units: of bytes, or elements.
struct HeadColumnsOfRow {
  long long columns, begin, stride;
};

/// A block of the grid has some of heads * width columns (y) of a row (x); of width columns where
/// heads are added up.
struct ColumnsArguments {
  const void* x;
  void* y;
  HeadColumnsOfRow from, to;
  int heads, width;
  bool accumulate;
};

}  // namespace heed::kernels::gpu
