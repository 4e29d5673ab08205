#include "heed/quantize.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/checkpoint/gguf/save_quantized.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/checkpoint/quantized_directory.h"
#include "heed/engine/load.h"
#include "heed/engine/load_options.h"
#include "heed/engine/new_files.h"
#include "heed/engine/quantize_measure.h"
#include "heed/engine/system_errors.h"
#include "heed/load_options.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

/// Checks the options before measuring, which takes long.
void check(const fs::path& source, const fs::path& target, const QuantizeOptions& options) {
  engine::LoadOption::weights.check(options.weights);
  require(options.weights != WeightType::f32, "weights is f32, expected bf16 or a block type");
  for (const TextFiles* files : {&options.calibration, &options.held_out})
    require(!files->text.empty() || files->reference.empty(),
            "there are references {} without the text that they translate",
            files->reference.string());
  engine::require_new("the quantised model", target, path_is_directory(source));
  if (options.calibration.text.empty()) return;
  const int bits = traits_of(engine::dtype_of(options.weights)).bits;
  require(bits > 0 && bits < 8, "calibration is for blocks of less than 8 bits, weights is {}",
          name_of(options.weights));
  engine::check_texts(options.calibration, *checkpoint::build_model(source), "calibrated");
}

void write_copy(const fs::path& source, const fs::path& target, const QuantizeOptions& options) {
  quantize::Quantization how{.dtype = engine::dtype_of(options.weights)};
  if (!options.calibration.text.empty())
    how.calibration = engine::calibrate(source, options.calibration);
  if (!path_is_directory(source)) return checkpoint::write_quantized_gguf(target, source, how);
  const auto model = checkpoint::load_model(source, {.precision = {std::nullopt}});
  quantize::quantize(*model, how);
  checkpoint::save_quantized(target, *model, source);
}

/// The types in which a model's weights are stored.
struct StoredTypes {
  std::map<std::string, int64_t> matrices;
  double bits_per_weight = 0;
};

StoredTypes stored_types(const fs::path& path) {
  const auto model = checkpoint::load_model(path, {.precision = {std::nullopt}});
  StoredTypes stored;
  int64_t bytes = 0;
  for (const Parameter& parameter : model->parameters().all()) {
    bytes += parameter.value.bytes();
    if (parameter.shape.rank() > 1)
      ++stored.matrices[std::string(name_of(parameter.value.dtype()))];
  }
  stored.bits_per_weight =
      8.0 * static_cast<double>(bytes) / static_cast<double>(model->parameters().count());
  return stored;
}

QuantizeResult quantize_found(const fs::path& source, const fs::path& target,
                              const QuantizeOptions& options) {
  check(source, target, options);
  engine::QualityEvaluator measure_copy;
  if (!options.held_out.text.empty())
    measure_copy = engine::quality_evaluator(source, options.held_out);
  write_copy(source, target, options);
  StoredTypes stored = stored_types(target);
  QuantizeResult result{.matrices = std::move(stored.matrices),
                        .bytes_before = engine::weight_file_bytes(source),
                        .bytes_after = engine::weight_file_bytes(target),
                        .bits_per_weight_before = stored_types(source).bits_per_weight,
                        .bits_per_weight_after = stored.bits_per_weight};
  if (measure_copy) result.quality = measure_copy(target);
  return result;
}

}  // namespace

QuantizeResult quantize_model(const fs::path& source, const fs::path& target,
                              const QuantizeOptions& options) {
  return engine::with_system_errors([&] {
    const auto executor = options.executor ? options.executor : Executor::shared();
    const ExecutorScope scope(*executor);
    return quantize_found(resolve_model(source, options.hub), target, options);
  });
}

}  // namespace heed
