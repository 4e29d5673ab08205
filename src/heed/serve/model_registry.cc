#include "heed/serve/model_registry.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/engine/device_choice.h"
#include "heed/engine/load.h"
#include "heed/gpu/gpu.h"
#include "heed/hub.h"
#include "heed/serve/operations/process_numbers.h"

namespace heed::serve {

namespace {

ModelSource without_aliases(ModelSource source) {
  source.aliases.clear();
  return source;
}

}  // namespace

struct ModelRegistry::Entry {
  explicit Entry(ModelSource named) : source(without_aliases(std::move(named))) {}

  const ModelSource source;            // without its aliases
  std::vector<std::string> aliases;    // can change while the model stays loaded
  std::shared_ptr<ServedModel> model;  // null until it is loaded
  ModelTasks tasks;
  std::vector<std::string> languages, source_languages;
  std::shared_ptr<const EmbeddingRanges> embedding_ranges;
  uint64_t bytes = 0;  // of the files
  int64_t loads = 0, unloads = 0;
  Call::Clock::time_point used = Call::Clock::now();

  void set_languages(const Model& loaded) {
    languages = loaded.languages();
    source_languages = loaded.source_languages();
    if (!source.target_language.empty()) languages = {source.target_language};
    if (!source.source_language.empty()) source_languages = {source.source_language};
  }
  void set_embedding_ranges(const Model& loaded) {
    if (source.embedding_ranges.empty()) return;
    const std::string file = source.embedding_ranges.string();
    auto ranges = std::make_shared<EmbeddingRanges>(read_embedding_ranges(file));
    require(tasks.embed && std::ssize(ranges->min) <= loaded.embedding_size(),
            "{}: there are ranges of {} dimensions, and the model {}", file, ranges->min.size(),
            tasks.embed ? fmt::format("makes vectors of {}", loaded.embedding_size())
                        : "makes no vectors");
    embedding_ranges = std::move(ranges);
  }
  /// How the GPU of the model was lost; empty: it was not.
  std::string loss() const {
    const gpu::Gpu* const gpu = model ? engine::gpu_of(model->model()) : nullptr;
    return gpu ? gpu->loss() : std::string();
  }
  bool has_adapter(const std::string& name) const {
    return std::ranges::any_of(source.load.adapters,
                               [&](const auto& one) { return one.name == name; });
  }
  bool has_alias(const std::string& name) const {
    return std::ranges::find(aliases, name) != aliases.end();
  }
  bool has(const std::string& name) const {
    return source.name == name || has_adapter(name) || has_alias(name);
  }
  /// Takes the model out of service. It is freed when its requests have ended.
  std::shared_ptr<ServedModel> take() {
    ++unloads;
    model->retire();
    return std::exchange(model, nullptr);
  }
};

namespace {

/// The sources, with the adapters of models that are loaded. Throws Error when a source says both
/// how to load a model and which one it is.
std::vector<ModelSource> completed(std::vector<ModelSource> sources) {
  for (ModelSource& source : sources) {
    if (!source.model) continue;
    require(source.path.empty() && !source.on_first_use,
            "the model {} is given loaded, and also what to load", quoted(source.name));
    source.load = source.model->load_options();
  }
  return sources;
}

void require_unique_names(const std::vector<ModelSource>& sources) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    require(!name.empty(), "a model has no name");
    require(names.insert(name).second, "two models have the name {}", quoted(name));
  };
  for (const ModelSource& source : sources) {
    add(source.name);
    for (const AdapterOptions& adapter : source.load.adapters) add(adapter.name);
    for (const std::string& alias : source.aliases) add(alias);
  }
}

/// The model, whose memory goes back to the system when it is freed.
std::shared_ptr<ServedModel> make_served(Model model, const BatchingOptions& options,
                                         ComputeLoop& loop) {
  return {new ServedModel(std::move(model), options, loop), [](const ServedModel* freed) {
            delete freed;
            return_freed_memory();
          }};
}

/// Waits until a model that was taken out of service is freed, unless its requests take too long.
void wait_until_freed(std::shared_ptr<ServedModel> taken) {
  constexpr std::chrono::milliseconds kStep(2), kLongest(10'000);
  const std::weak_ptr<ServedModel> model = taken;
  taken.reset();
  for (auto waited = kStep; !model.expired() && waited < kLongest; waited += kStep)
    std::this_thread::sleep_for(kStep);
}

/// The tokens that a model takes: an embedder's files may allow fewer than its context holds.
int64_t tokens_of_input(const Model& model, const ModelTasks& tasks) {
  const bool only_embeds = tasks.embed && !tasks.generate && !tasks.translate;
  return only_embeds ? model.max_embedded_tokens() : model.context_length();
}

}  // namespace

std::vector<std::string> task_names(const ModelTasks& tasks) {
  std::vector<std::string> names;
  for (const auto& [can, name] :
       {std::pair{tasks.generate, "generate"}, std::pair{tasks.chat, "chat"},
        std::pair{tasks.translate, "translate"}, std::pair{tasks.embed, "embed"},
        std::pair{tasks.embed_sparse, "embed_sparse"},
        std::pair{tasks.embed_multi_vector, "embed_multi_vector"},
        std::pair{tasks.classify, "classify"}, std::pair{tasks.rerank, "rerank"},
        std::pair{tasks.score, "score"}, std::pair{tasks.fill, "fill"},
        std::pair{tasks.attention, "attention"}})
    if (can) names.emplace_back(name);
  return names;
}

ModelRegistry::ModelRegistry(ComputeLoop& loop, uint64_t memory_limit, OnLoaded on_loaded)
    : loop_(loop),
      memory_limit_(memory_limit),
      on_loaded_(std::move(on_loaded)),
      loader_([this] { load_waiting(); }) {}

ModelRegistry::~ModelRegistry() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  wanted_.notify_one();
  loader_.join();
}

void ModelRegistry::serve(const std::vector<ModelSource>& given) {
  const std::vector<ModelSource> sources = completed(given);
  require_unique_names(sources);
  std::vector<std::shared_ptr<Entry>> before;
  {
    const MutexLock lock(mutex_);
    before = models_;
  }
  std::vector<std::shared_ptr<Entry>> now;
  for (const ModelSource& source : sources) {
    const auto kept = std::ranges::find_if(before, [&](const auto& entry) {
      return entry->source == without_aliases(source) && (source.model || entry->loss().empty());
    });
    now.push_back(kept != before.end() ? *kept : std::make_shared<Entry>(source));
  }
  if (before.empty()) {
    const MutexLock lock(mutex_);
    starting_ = now;
  }
  try {
    for (const auto& entry : now)
      if (!entry->source.on_first_use && !entry->model) load(*entry);
  } catch (...) {
    const MutexLock lock(mutex_);
    starting_.clear();
    throw;
  }
  const MutexLock lock(mutex_);
  starting_.clear();
  models_ = now;
  for (size_t i = 0; i < now.size(); ++i) now[i]->aliases = sources[i].aliases;
  for (const auto& entry : before)
    if (entry->model && std::ranges::find(now, entry) == now.end()) entry->model->retire();
}

bool ModelRegistry::unload(const std::string& name) {
  std::shared_ptr<ServedModel> taken;  // freed here, if it has no requests, and not locked
  const MutexLock lock(mutex_);
  const std::shared_ptr<Entry> entry = find(name);
  if (entry->source.model)
    throw invalid_request("model",
                          "the model was given to the server by the program, which keeps it");
  if (!entry->model) return false;
  taken = entry->take();
  return true;
}

Model ModelRegistry::load_files(Entry& entry) {
  const std::filesystem::path path = resolve_model(entry.source.path, entry.source.load.hub);
  entry.bytes = engine::weight_file_bytes(path);
  if (const auto& draft = entry.source.load.speculation.draft; !draft.empty())
    entry.bytes += engine::weight_file_bytes(resolve_model(draft, entry.source.load.hub));
  unload_for(entry);
  return Model::load(path, entry.source.load);
}

void ModelRegistry::load(Entry& entry) {
  try {
    auto model = make_served(entry.source.model ? *entry.source.model : load_files(entry),
                             entry.source.batching, loop_);
    return_freed_memory();  // in which it was prepared
    on_loaded_(entry.source.name, model->model());
    const MutexLock lock(mutex_);
    entry.tasks = model->model().tasks();
    entry.set_languages(model->model());
    entry.set_embedding_ranges(model->model());
    ++entry.loads;
    entry.model = std::move(model);
  } catch (const Error& error) {
    fail("model {}: {}", quoted(entry.source.name), error.what());
  }
}

/// Unloads idle models until the files of this one fit the memory limit.
void ModelRegistry::unload_for(const Entry& entry) {
  // A model is idle some milliseconds after its last client has the answer.
  constexpr std::chrono::milliseconds kStep(5), kLongest(500);
  if (memory_limit_ == 0) return;
  for (std::chrono::milliseconds waited(0);;) {
    try {
      auto taken = take_idle_beside(entry);
      if (!taken) return;
      wait_until_freed(std::move(taken));
    } catch (const Error&) {
      if (waited >= kLongest) throw;
      std::this_thread::sleep_for(kStep);
      waited += kStep;
    }
  }
}

/// Takes the idle model out of service that was unused for longest; null if the files of this one
/// fit beside the others. Throws Error when those in use leave no room.
std::shared_ptr<ServedModel> ModelRegistry::take_idle_beside(const Entry& entry) {
  const MutexLock lock(mutex_);
  uint64_t sum = entry.bytes;
  Entry* oldest = nullptr;
  for (const auto& other : models_) {
    if (!other->model || other.get() == &entry) continue;
    sum += other->bytes;
    const bool idle = other->source.on_first_use && other->model->idle();
    if (idle && (!oldest || other->used < oldest->used)) oldest = other.get();
  }
  if (sum <= memory_limit_) return nullptr;
  require(oldest, "it needs {} MB, and the models in use leave {} of {} MB", entry.bytes >> 20,
          (memory_limit_ - std::min(memory_limit_, sum - entry.bytes)) >> 20, memory_limit_ >> 20);
  return oldest->take();
}

std::shared_ptr<ModelRegistry::Entry> ModelRegistry::find(const std::string& name) const {
  if (name.empty()) {
    if (models_.size() == 1 && models_.front()->source.load.adapters.empty())
      return models_.front();
    throw invalid_request("model", "model is missing, and there are several");
  }
  for (const auto& entry : models_)
    if (entry->has(name)) return entry;
  for (const auto& entry : models_)
    if (entry->has_alias("*")) return entry;
  throw unknown_model(name);
}

std::string ModelRegistry::known_name(const std::string& name) const {
  const MutexLock lock(mutex_);
  for (const auto& entry : models_)
    if (entry->has(name)) return entry->has_adapter(name) ? name : entry->source.name;
  return {};
}

ModelRegistry::Target ModelRegistry::target_of(const Entry& entry, const std::string& name) {
  Target target{.name = entry.has_adapter(name) ? name : entry.source.name,
                .model = entry.model,
                .tasks = entry.tasks,
                .source_language = entry.source.source_language,
                .target_language = entry.source.target_language,
                .embedding_ranges = entry.embedding_ranges};
  if (entry.source.load.adapters.empty()) return target;
  target.adapters.emplace();
  if (target.name != entry.source.name) target.adapters->push_back(target.name);
  // Only a Session lets a request choose among adapters.
  const bool chat = target.tasks.chat;
  target.tasks = {.generate = target.tasks.generate, .chat = chat};
  return target;
}

ModelRegistry::Target ModelRegistry::locked_target_of(const Entry& entry,
                                                      const std::string& name) const {
  const MutexLock lock(mutex_);
  return target_of(entry, name);
}

std::optional<ModelRegistry::Target> ModelRegistry::find_or_load(
    const std::string& name, std::function<void(const Target&)> then,
    std::function<void(const ApiError&)> failed) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<Entry> entry = find(name);
  entry->used = Call::Clock::now();
  if (const std::string loss = entry->loss(); !loss.empty()) throw unavailable(loss, 30);
  if (entry->model) return target_of(*entry, name);
  waiting_.push_back({entry, name, std::move(then), std::move(failed)});
  wanted_.notify_one();
  return std::nullopt;
}

/// Runs on the thread that loads models on their first use.
void ModelRegistry::load_waiting() {
  while (true) {
    MutexLock lock(mutex_);
    while (!ended_ && waiting_.empty()) wanted_.wait(lock);
    if (ended_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    const bool loaded = next.entry->model != nullptr;
    lock.unlock();
    try {
      if (!loaded) load(*next.entry);
      next.then(locked_target_of(*next.entry, next.name));
    } catch (const Error& error) {
      next.failed(unavailable(error.what(), 30));
    } catch (...) {
      next.failed(current_error());
    }
  }
}

std::vector<ModelRegistry::Target> ModelRegistry::loaded() const {
  const MutexLock lock(mutex_);
  std::vector<Target> targets;
  for (const auto& entry : models_)
    if (entry->model) targets.push_back(target_of(*entry, entry->source.name));
  return targets;
}

std::vector<ModelRegistry::ModelInfo> ModelRegistry::list() const {
  const MutexLock lock(mutex_);
  std::vector<ModelInfo> infos;
  for (const auto& entry : models_.empty() ? starting_ : models_) {
    ModelInfo info;
    info.name = entry->source.name;
    info.aliases = entry->aliases;
    info.loaded = entry->model != nullptr;
    info.loads = entry->loads;
    info.unloads = entry->unloads;
    if (info.loaded) info.file_bytes = entry->bytes;
    if (entry->model) {
      info.device = entry->model->model().gpu();
      if (info.device.empty()) info.device = "cpu";
      info.context_length = tokens_of_input(entry->model->model(), entry->tasks);
      info.tasks = task_names(target_of(*entry, info.name).tasks);
      info.languages = entry->languages;
      info.source_languages = entry->source_languages;
    }
    infos.push_back(info);
    info.base = info.name;
    info.aliases.clear();
    for (const AdapterOptions& adapter : entry->source.load.adapters) {
      info.name = adapter.name;
      infos.push_back(info);
    }
  }
  return infos;
}

}  // namespace heed::serve
