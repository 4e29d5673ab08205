#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/embedding_precision.h"
#include "heed/serve/compute_loop.h"
#include "heed/serve/served_model.h"
#include "heed/server.h"

namespace heed::serve {

/// The names of what a model can be asked to do by a route, as GET /v1/models lists them.
std::vector<std::string> task_names(const ModelTasks& tasks);

/// The models that are served, by name. May be used by any thread.
class ModelRegistry {
 public:
  /// Receives a model that has been loaded, and its name. Called on the thread that has loaded it.
  using OnLoaded = std::function<void(const std::string& name, const Model& model)>;
  /// Models compute on `loop`, which must outlive this. Beyond `memory_limit` bytes (0: no limit)
  /// idle models that were loaded on first use are unloaded, the least recently used one first.
  ModelRegistry(ComputeLoop& loop, uint64_t memory_limit, OnLoaded on_loaded);
  ~ModelRegistry();

  /// Loads the models that are not loaded on first use. Throws Error, which names the model, when
  /// one cannot be loaded or two models have the same name; nothing has changed then. Models that
  /// are served already from the same source stay loaded, unless they were lost with their GPU;
  /// those that are not named any more end when their requests have ended.
  void serve(const std::vector<ModelSource>& sources);

  /// A model as a request sees it.
  struct Target {
    std::string name;
    std::shared_ptr<ServedModel> model;
    ModelTasks tasks;
    /// For Request::adapters: those of the name. Not set if the model has no adapters.
    std::optional<std::vector<std::string>> adapters = {};
    /// ModelSource::source_language and target_language.
    std::string source_language = {}, target_language = {};
    /// Of ModelSource::embedding_ranges; null if there are none.
    std::shared_ptr<const EmbeddingRanges> embedding_ranges = {};
  };
  /// The model of this name if it is loaded. Otherwise the loader thread loads it and calls `then`,
  /// or `failed` when it cannot be loaded; neither may throw. An empty name stands for the only
  /// model there is. Throws ApiError when there is no such model, or when it was lost with its GPU.
  std::optional<Target> find_or_load(const std::string& name,
                                     std::function<void(const Target&)> then,
                                     std::function<void(const ApiError&)> failed);
  /// Unloads the model of this name once the requests that it has have ended; the next request that
  /// names it loads it again. Returns whether it was loaded. Throws ApiError when there is no such
  /// model, and when it was given loaded.
  bool unload(const std::string& name);
  /// The loaded models.
  std::vector<Target> loaded() const;
  /// The model or adapter that a request with this name means if it names one exactly; otherwise
  /// empty.
  std::string known_name(const std::string& name) const;

  /// A model or an adapter, as GET /v1/models describes it.
  struct ModelInfo {
    std::string name, base;  // of an adapter: its model
    std::vector<std::string> aliases;
    bool loaded = false;
    uint64_t file_bytes = 0;         // while it is loaded from files
    int64_t loads = 0, unloads = 0;  // since the model is served
    std::string device;              // "cpu", or the name of a GPU
    int64_t context_length = 0;
    std::vector<std::string> tasks, languages, source_languages;
  };
  std::vector<ModelInfo> list() const;

 private:
  struct Entry;  // a source and its model, if it is loaded
  std::shared_ptr<Entry> find(const std::string& name) const HEED_REQUIRES(mutex_);
  void load(Entry& entry);
  Model load_files(Entry& entry);
  void unload_for(const Entry& entry);
  std::shared_ptr<ServedModel> take_idle_beside(const Entry& entry);
  static Target target_of(const Entry& entry, const std::string& name);
  Target locked_target_of(const Entry& entry, const std::string& name) const;
  void load_waiting();

  ComputeLoop& loop_;
  const uint64_t memory_limit_;
  const OnLoaded on_loaded_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Entry>> models_
      HEED_GUARDED_BY(mutex_);  // in the order of the sources
  /// While the first models are loaded, these, which list() names.
  std::vector<std::shared_ptr<Entry>> starting_ HEED_GUARDED_BY(mutex_);

  struct Waiting {
    std::shared_ptr<Entry> entry;
    std::string name;
    std::function<void(const Target&)> then;
    std::function<void(const ApiError&)> failed;
  };
  ConditionVariable wanted_;
  std::vector<Waiting> waiting_ HEED_GUARDED_BY(mutex_);
  bool ended_ HEED_GUARDED_BY(mutex_) = false;
  std::thread loader_;
};

}  // namespace heed::serve
