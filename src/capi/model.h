#pragma once

#include <memory>
#include <vector>

#include "capi/executor.h"
#include "capi/handles.h"
#include "capi/values.h"
#include "heed/c_model.h"
#include "heed/error.h"
#include "heed/load_options.h"
#include "heed/model.h"

namespace heed::capi {

/// A model, and the texts that C callers read in place.
struct LoadedModel {
  Model model;
  std::string family, gpu;
};

template <>
struct HandleOf<heed_model> {
  using Object = LoadedModel;
  static constexpr const char* kName = "model";
};

/// The model of a handle. A copy, which outlives the handle.
inline Model model_of(const heed_model* handle) { return object_of(handle)->model; }

/// A caller's options of the hub. Remembers whether a callback has ended a download.
class HubCall {
 public:
  explicit HubCall(const heed_hub_options* options);

  const HubOptions& options() const { return options_; }

  /// Runs `body`, whose Error becomes HEED_ERROR_CANCELLED if a callback has ended a download.
  template <typename Body>
  auto run(const Body& body) const {
    try {
      return body();
    } catch (const Error& error) {
      if (*cancelled_) throw StatusError(HEED_ERROR_CANCELLED, error.what());
      throw;
    }
  }

 private:
  HubOptions options_;
  std::shared_ptr<bool> cancelled_ = std::make_shared<bool>(false);
};

}  // namespace heed::capi
