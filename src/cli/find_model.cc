#include "cli/find_model.h"

#include "cli/download_line.h"
#include "cli/signals.h"
#include "heed/base/file.h"
#include "heed/hub.h"

namespace heed::cli {

std::string find_model(const std::string& name, const FindOptions& options) {
  if (path_exists(name)) return name;
  const StopRequest stop;
  DownloadLine line;
  HubOptions hub;
  hub.weights = options.weights;
  hub.on_progress = [&line](const DownloadProgress& progress) { line.show(progress); };
  hub.cancelled = [&stop] { return stop.requested(); };
  return resolve_model(name, hub).string();
}

}  // namespace heed::cli
