#include "heed/kernels/attention.h"

#include <algorithm>
#include <optional>

#include "heed/base/rounding.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/gpu/code/attention/attention.h"
#include "heed/kernels/gpu/launch.h"
#include "heed/kernels/gpu/spans.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kWeightsThreads = 128;
/// So that positions cannot overflow.
constexpr int64_t kMaxWindow = int64_t{1} << 29;

/// How blocks compute rows: by the widths and dtypes alone, so that a row's bits are the same in
/// every call. The shapes of blocks do not change them.
struct AttentionKernel {
  const char *few, *many;  // for sequences with few rows, and for others
  int few_rows, many_rows;
  // On tensor cores: columns of a tile; blocks have parts of the values' columns.
  int key_columns = 0, value_columns = 0, most_parts = 1;

  bool uses_tiles() const { return key_columns > 0; }
  unsigned threads(int rows) const {
    return uses_tiles() && rows > few_rows ? static_cast<unsigned>(rows) * 2 : 128;
  }
};

constexpr AttentionKernel kTileKernels[] = {
    {"attention_few_64_64", "attention_tiles_64_64", 16, 128, 64, 64},
    {"attention_few_96_96", "attention_tiles_96_96", 16, 128, 96, 96},
    {"attention_few_128_128", "attention_tiles_128_128", 16, 128, 128, 128},
    {"attention_few_192_128", "attention_tiles_192_128", 16, 128, 192, 128},
    {"attention_few_256_128", "attention_tiles_256_128", 16, 128, 256, 128, 2}};

/// The shared memory of a block.
size_t shared_bytes(const AttentionKernel& kernel, const AttentionArguments& in, int rows) {
  if (!kernel.uses_tiles()) {
    const int floats = kTileKeys * (64 + 4 + 1) + rows * (round_up(in.d, 64) + kTileKeys);
    return static_cast<size_t>(floats) * sizeof(float);
  }
  if (rows == kernel.few_rows) {
    const int widest = std::max(kernel.key_columns, kernel.value_columns);
    return static_cast<size_t>(kFewHalves * kTileKeys * (widest + 8) * 2 + kFewExchangedBytes);
  }
  const int stages = 2 * kTileKeys * (kernel.key_columns + 8 + kernel.value_columns + 8) * 2;
  const int queries = kernel.key_columns > 128 ? rows * kernel.key_columns * 2 : 0;
  return static_cast<size_t>(stages + queries);
}

/// Tensor cores for bf16, in blocks that this GPU has the shared memory for.
std::optional<AttentionKernel> tile_kernel_for(const AttentionArguments& in) {
  if (!in.q_is_bf16 || in.key_type != KeyType::bf16 || in.d % 8 != 0 || in.dv % 8 != 0) return {};
  const auto limit = static_cast<size_t>(current_gpu().properties().shared_bytes);
  for (AttentionKernel kernel : kTileKernels) {
    if (in.d > kernel.key_columns || in.dv > kernel.value_columns * kernel.most_parts) continue;
    while (kernel.many_rows > 32 && shared_bytes(kernel, in, kernel.many_rows) > limit)
      kernel.many_rows -= 16;
    if (shared_bytes(kernel, in, kernel.many_rows) <= limit) return kernel;
  }
  return {};
}

AttentionKernel kernel_for(const AttentionArguments& in) {
  if (const auto kernel = tile_kernel_for(in)) return *kernel;
  require(in.dv <= 576, "attention on a GPU: values have at most 576 columns a head, found {}",
          in.dv);
  if (in.dv <= 64) return {"attention_plain_4_1", "attention_plain_16_1", 4, 16};
  if (in.dv <= 128) return {"attention_plain_4_2", "attention_plain_16_2", 4, 16};
  if (in.dv <= 256) return {"attention_plain_4_4", "attention_plain_16_4", 4, 16};
  return {"attention_plain_4_9", "attention_plain_8_9", 4, 8};
}

KeyType key_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return KeyType::f32;
    case DType::bf16:
      return KeyType::bf16;
    case DType::q8_0:
      return KeyType::q8_0;
    default:
      fail("attention: keys are in {}, expected f32, bf16 or q8_0", name_of(dtype));
  }
}

AttentionArguments arguments_of(const AttentionForward& in, UploadedSpans& spans) {
  require(!in.pair_bias.defined(),
          "disentangled attention does not compute on a GPU, expected the CPU");
  const AttentionOptions& options = in.options;
  AttentionArguments to{};
  to.q = memory(in.q);
  to.k = memory(in.k);
  to.v = memory(in.v);
  to.relative_bias = elements<float>(in.relative_bias);
  to.sinks = elements<float>(in.sinks);
  to.q_offsets = spans.q_offsets();
  to.kv_begin = spans.kv_begin();
  to.kv_end = spans.kv_end();
  to.kv_rows = spans.kv_rows();
  to.n_heads = static_cast<int>(options.n_heads);
  to.n_kv_heads = static_cast<int>(options.n_kv_heads);
  to.d = static_cast<int>(in.q.cols() / options.n_heads);
  to.dv = static_cast<int>(in.v.defined() ? in.v.cols() / options.n_kv_heads : 0);
  to.scale = options.scale;
  to.soft_cap = options.soft_cap;
  to.window = static_cast<int>(std::min(options.window, kMaxWindow));
  if (in.relative_bias.defined()) to.bias_reach = static_cast<int>(in.relative_bias.cols() + 1) / 2;
  to.causal = options.causal;
  to.q_is_bf16 = in.q.dtype() == DType::bf16;
  to.key_type = key_type_of(in.k.dtype());
  to.keep = 1.0f - options.dropout;
  to.drop_threshold = options.dropout > 0.0f ? drop_threshold(options.dropout) : 0;
  to.dropout_key = mix64(options.dropout_key);
  return to;
}

void launch_blocks(const PlannedBlocks& blocks, const AttentionKernel& kernel, const char* name,
                   AttentionArguments in) {
  if (blocks.items.size == 0) return;
  const auto heads = static_cast<unsigned>(in.n_kv_heads);
  in.items = blocks.items.data();
  launch(name,
         {.x = static_cast<unsigned>(blocks.items.size) * heads,
          .y = kernel.uses_tiles() ? blocks_for(in.dv, kernel.value_columns) : 1,
          .threads = kernel.threads(blocks.rows),
          .shared_bytes = shared_bytes(kernel, in, blocks.rows)},
         in);
  if (blocks.merges.size == 0) return;
  in.items = blocks.merges.data();
  launch("attention_merge",
         {.x = static_cast<unsigned>(blocks.merges.size) * heads,
          .y = static_cast<unsigned>(blocks.rows),
          .threads = kMergeThreads,
          .shared_bytes = kMergeThreads * 4 * sizeof(float)},
         in);
}

}  // namespace

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& logsumexp) {
  if (in.q.rows() == 0) return;
  const std::shared_ptr<UploadedSpans> spans = UploadedSpans::of(in.spans);
  AttentionArguments arguments = arguments_of(in, *spans);
  if (arguments.key_type == KeyType::q8_0)
    require(
        arguments.d % 32 == 0 && arguments.dv % 32 == 0,
        "attention: keys in q8_0 have {} columns a head and values {}, expected multiples of 32",
        arguments.d, arguments.dv);
  arguments.out = memory(out);
  arguments.logsumexp = elements<float>(logsumexp);
  arguments.partial_floats = round_up(arguments.dv, 2) + 2;
  const AttentionKernel kernel = kernel_for(arguments);
  const int row_bytes = arguments.n_kv_heads * arguments.partial_floats * 4;
  const auto plan =
      spans->plan(in.spans, {.heads_per_group = arguments.n_heads / arguments.n_kv_heads,
                             .n_kv_heads = arguments.n_kv_heads,
                             .few_rows = kernel.few_rows,
                             .many_rows = kernel.many_rows,
                             .partial_bytes = row_bytes});
  std::shared_ptr<std::byte> partials;
  if (plan->partial_rows > 0)
    partials = current_gpu().allocate(static_cast<size_t>(plan->partial_rows) *
                                      static_cast<size_t>(row_bytes));
  arguments.partials = reinterpret_cast<float*>(partials.get());
  arguments.partial_rows = plan->partial_rows;
  launch_blocks(plan->many, kernel, kernel.many, arguments);
  launch_blocks(plan->few, kernel, kernel.few, arguments);
}

Tensor attention_weights(const AttentionForward& in, const QueryRange& range) {
  const auto b = static_cast<size_t>(range.sequence);
  const int64_t keys = in.spans.kv_end[b] - in.spans.kv_begin[b];
  Tensor weights = Tensor::empty({in.options.n_heads, range.size(), keys});
  if (weights.elements() == 0) return weights;
  launch("attention_weights_rows",
         {.x = static_cast<unsigned>(range.size()),
          .y = static_cast<unsigned>(in.options.n_heads),
          .threads = kWeightsThreads,
          .shared_bytes = kWeightsThreads / 32 * sizeof(float)},
         AttentionWeightsArguments{arguments_of(in, *UploadedSpans::of(in.spans)),
                                   elements<float>(weights), static_cast<int>(range.sequence),
                                   static_cast<int>(range.begin), static_cast<int>(range.size()),
                                   static_cast<int>(keys)});
  return weights;
}

}  // namespace heed::kernels::gpu
