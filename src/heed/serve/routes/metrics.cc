#include "heed/serve/operations/metrics.h"

#include <map>

#include "heed/engine/device_choice.h"
#include "heed/gpu/gpu.h"
#include "heed/serve/operations/process_numbers.h"
#include "heed/serve/routes/routes.h"
#include "heed/tensor/allocator.h"

namespace heed::serve {
namespace {

using Stats = ServedModel::Stats;

/// A value without labels.
void print(std::string& out, const std::string& name, const char* type, const char* help,
           double value) {
  out += metric_header(name, type, help);
  out += metric_line(name, "", value);
}
void print(std::string& out, const std::string& name, const char* type, const char* help,
           int64_t value) {
  print(out, name, type, help, static_cast<double>(value));
}

/// A value of each model.
template <typename Models>
void print_each(std::string& out, const Models& models, const std::string& name, const char* type,
                const char* help, auto value_of) {
  out += metric_header(name, type, help);
  for (const auto& model : models)
    out += metric_line(name, metric_labels({{"model", model.name}}),
                       static_cast<double>(value_of(model)));
}

void print_loaded_models(std::string& out, const std::vector<ModelRegistry::Target>& models) {
  using Target = ModelRegistry::Target;
  const auto stat = [](int64_t Stats::*member) {
    return [member](const Target& one) { return one.model->stats().*member; };
  };
  const auto option = [](int64_t BatchingOptions::*member) {
    return [member](const Target& one) { return one.model->options().*member; };
  };
  print_each(out, models, "heed_running_requests", "gauge", "Outputs that are generated or wait",
             stat(&Stats::requests));
  out += metric_header("heed_kv_rows", "gauge",
                       "Rows of the kv cache: used by requests, or kept for later ones");
  for (const Target& one : models) {
    const Stats stats = one.model->stats();
    const auto line = [&](const char* state, int64_t rows) {
      out += metric_line("heed_kv_rows", metric_labels({{"model", one.name}, {"state", state}}),
                         static_cast<double>(rows));
    };
    line("used", stats.rows - stats.kept_rows);
    line("kept", stats.kept_rows);
  }
  print_each(out, models, "heed_reused_tokens_total", "counter",
             "Tokens of prompts whose keys and values were kept from an earlier request",
             stat(&Stats::reused_tokens));
  print_each(out, models, "heed_max_active_tokens", "gauge",
             "Tokens of running requests, at most: prompts and outputs",
             option(&BatchingOptions::max_active_tokens));
  print_each(out, models, "heed_max_active_requests", "gauge",
             "Outputs that are generated at a time, at most",
             option(&BatchingOptions::max_active_requests));
  print_each(out, models, "heed_max_cached_tokens", "gauge",
             "Tokens of ended requests that are kept, at most",
             option(&BatchingOptions::max_cached_tokens));
}

/// The models of the configuration, without adapters.
void print_models(std::string& out, const ModelRegistry& registry) {
  std::vector<ModelRegistry::ModelInfo> models = registry.list();
  std::erase_if(models, [](const auto& one) { return !one.base.empty(); });
  print_each(out, models, "heed_model_loaded", "gauge", "Whether the model is loaded",
             [](const auto& one) { return one.loaded; });
  print_each(out, models, "heed_model_file_bytes", "gauge",
             "Bytes of the files of a loaded model, which model_memory limits",
             [](const auto& one) { return one.file_bytes; });
  print_each(out, models, "heed_model_loads_total", "counter", "Times the model was loaded",
             [](const auto& one) { return one.loads; });
  print_each(out, models, "heed_model_unloads_total", "counter",
             "Times the model was unloaded, for another one or by a request",
             [](const auto& one) { return one.unloads; });
}

/// As Prometheus' client libraries name them.
void print_process(std::string& out) {
  const ProcessNumbers process = process_numbers();
  print(out, "process_resident_memory_bytes", "gauge", "Memory that the process has",
        process.resident_bytes);
  print(out, "process_virtual_memory_bytes", "gauge", "Address space of the process",
        process.virtual_bytes);
  print(out, "process_cpu_seconds_total", "counter", "Processor time of all threads",
        process.cpu_seconds);
  print(out, "process_start_time_seconds", "gauge", "When it began, in seconds since 1970",
        process.start_time_seconds);
  print(out, "process_open_fds", "gauge", "Open files and connections", process.open_files);
  print(out, "process_max_fds", "gauge", "Files and connections that may be open",
        process.max_files);
  print(out, "process_threads", "gauge", "Threads of the process", process.threads);
}

/// What waits, and how much may.
void print_limits(std::string& out, const Services& services) {
  const ServerOptions& options = services.options;
  print(out, "heed_queued_requests", "gauge", "Requests that wait to be computed",
        services.admission.requests());
  print(out, "heed_queued_tokens", "gauge", "Their tokens of input", services.admission.tokens());
  print(out, "heed_max_queued_requests", "gauge", "Requests that may wait", options.queue.requests);
  print(out, "heed_max_queued_tokens", "gauge", "Tokens that may wait", options.queue.tokens);
  print(out, "heed_connections", "gauge", "Connections that are open", services.http.connections());
  print(out, "heed_max_connections", "gauge", "Connections that may be open",
        int64_t{options.http.connections});
  print(out, "heed_refused_connections_total", "counter",
        "Connections that were closed at once, because too many were open",
        services.http.refused_connections());
  print(out, "heed_tensor_bytes", "gauge",
        "Memory reserved for weights, caches and intermediate results, part of which is not "
        "touched yet",
        static_cast<double>(allocated_bytes()));
  print(out, "heed_model_memory_limit_bytes", "gauge", "model_memory; 0: no limit",
        static_cast<double>(options.memory_limit));
}

/// The memory of the GPUs on which models compute. One that was lost has none.
void print_gpu_memory(std::string& out, const std::vector<ModelRegistry::Target>& models) {
  std::map<std::string, const gpu::Gpu*> gpus;
  for (const ModelRegistry::Target& target : models)
    if (const gpu::Gpu* const gpu = engine::gpu_of(target.model->model());
        gpu && gpu->loss().empty())
      gpus[gpu->name()] = gpu;
  if (gpus.empty()) return;
  const auto print_bytes = [&](const std::string& name, const char* help, auto bytes_of) {
    out += metric_header(name, "gauge", help);
    for (const auto& [gpu_name, gpu] : gpus)
      out += metric_line(name, metric_labels({{"gpu", gpu_name}}),
                         static_cast<double>(bytes_of(*gpu)));
  };
  print_bytes("heed_gpu_allocated_bytes", "Memory of the GPU that this process uses",
              [](const gpu::Gpu& gpu) { return gpu.allocated_bytes(); });
  print_bytes("heed_gpu_free_bytes", "Memory of the GPU that this process can still allocate",
              [](const gpu::Gpu& gpu) { return gpu.free_bytes(); });
}

}  // namespace

void get_metrics(Services& services, Call& call) {
  std::string out = metric_header("heed_build_info", "gauge", "The version, in a label");
  out += metric_line("heed_build_info", metric_labels({{"version", HEED_VERSION}}), 1);
  print(out, "heed_ready", "gauge", "Whether requests are accepted", int64_t{services.ready()});
  out += services.metrics.text();
  print_limits(out, services);
  const auto models = services.models.loaded();
  print_loaded_models(out, models);
  print_models(out, services.models);
  print_gpu_memory(out, models);
  print_process(out);
  call.respond({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = out});
}

}  // namespace heed::serve
