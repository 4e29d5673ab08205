#include "heed/serve/metrics.h"

#include <map>

#include "heed/engine/device_choice.h"
#include "heed/gpu/gpu.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

using Stats = ServedModel::Stats;

void print_gauge(std::string& out, const std::vector<ModelRegistry::Target>& models,
                 const std::string& name, const char* type, const char* help,
                 int64_t Stats::*member) {
  out += metric_header(name, type, help);
  for (const ModelRegistry::Target& target : models)
    out += metric_line(name, metric_labels({{"model", target.name}}),
                       static_cast<double>(target.model->stats().*member));
}

/// The memory of the GPUs on which models compute. One that was lost has none.
void print_gpu_memory(std::string& out, const std::vector<ModelRegistry::Target>& models) {
  std::map<std::string, const gpu::Gpu*> gpus;
  for (const ModelRegistry::Target& target : models)
    if (const gpu::Gpu* const gpu = engine::gpu_of(target.model->model());
        gpu && gpu->loss().empty())
      gpus[gpu->name()] = gpu;
  if (gpus.empty()) return;
  const auto print = [&](const std::string& name, const char* help, auto bytes_of) {
    out += metric_header(name, "gauge", help);
    for (const auto& [gpu_name, gpu] : gpus)
      out += metric_line(name, metric_labels({{"gpu", gpu_name}}),
                         static_cast<double>(bytes_of(*gpu)));
  };
  print("heed_gpu_allocated_bytes", "Memory of the GPU that this process uses",
        [](const gpu::Gpu& gpu) { return gpu.allocated_bytes(); });
  print("heed_gpu_free_bytes", "Memory of the GPU that this process can still allocate",
        [](const gpu::Gpu& gpu) { return gpu.free_bytes(); });
}

}  // namespace

void get_metrics(Services& services, Call& call) {
  std::string out = services.metrics.text();
  out += metric_header("heed_queued_requests", "gauge", "Requests that wait to be computed");
  out +=
      metric_line("heed_queued_requests", "", static_cast<double>(services.admission.requests()));
  out += metric_header("heed_queued_tokens", "gauge", "Their tokens of input");
  out += metric_line("heed_queued_tokens", "", static_cast<double>(services.admission.tokens()));
  const auto models = services.models.loaded();
  print_gauge(out, models, "heed_running_requests", "gauge", "Outputs that are generated or wait",
              &Stats::requests);
  print_gauge(out, models, "heed_kv_rows", "gauge",
              "Rows of the kv cache that requests and kept prefixes use", &Stats::rows);
  print_gauge(out, models, "heed_reused_tokens_total", "counter",
              "Tokens of prompts whose keys and values were kept from an earlier request",
              &Stats::reused_tokens);
  print_gpu_memory(out, models);
  call.respond({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = out});
}

}  // namespace heed::serve
