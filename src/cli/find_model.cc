#include "cli/find_model.h"

#include "cli/terminal/download_line.h"
#include "cli/terminal/signals.h"
#include "heed/base/display.h"
#include "heed/base/file.h"
#include "heed/base/parse_number.h"
#include "heed/hub.h"

namespace heed::cli {
namespace {

/// Shows a download, which Ctrl-C ends.
class VisibleDownload {
 public:
  HubOptions options() {
    HubOptions hub;
    hub.on_progress = [this](const DownloadProgress& progress) { line_.show(progress); };
    hub.cancelled = [this] { return stop_.requested(); };
    return hub;
  }

 private:
  const StopRequest stop_;
  DownloadLine line_;
};

AdapterOptions parse_adapter(const std::string& text) {
  AdapterOptions adapter{.path = text};
  const size_t equals = text.rfind('=');
  if (equals == text.npos) return adapter;
  const auto scale = parse_number<float>(std::string_view(text).substr(equals + 1));
  if (!scale) return adapter;
  return {.path = text.substr(0, equals), .scale = *scale};
}

}  // namespace

std::string model_choices() {
  std::string lines =
      "MODEL is a model directory, a GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the\n"
      "Hugging Face hub, which is downloaded: HuggingFaceTB/SmolLM2-135M-Instruct, for example.\n";
  const std::vector<std::string> cached = cached_models();
  lines += cached.empty() ? "No model is in the cache yet." : "In the cache:";
  for (const std::string& name : cached) lines += "\n  " + printable(name);
  return lines;
}

std::string find_model(const std::string& name, const FindOptions& options) {
  if (path_exists(name)) return name;
  VisibleDownload download;
  HubOptions hub = download.options();
  hub.weights = options.weights;
  return resolve_model(name, hub).string();
}

std::vector<AdapterOptions> find_adapters(const std::vector<std::string>& texts) {
  std::vector<AdapterOptions> adapters;
  for (const std::string& text : texts) {
    VisibleDownload download;
    adapters.push_back(find_adapter(parse_adapter(text), download.options()));
  }
  return adapters;
}

}  // namespace heed::cli
