#include "heed/serve/metrics.h"

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
  call.respond({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = out});
}

}  // namespace heed::serve
