#include "heed/serve/model_registry.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/hub.h"

namespace heed::serve {

struct ModelRegistry::Slot {
  explicit Slot(const ModelSource& own_source) : source(own_source) {}

  const ModelSource source;
  std::shared_ptr<ServedModel> model;  // null until it is loaded
  ModelTasks tasks;
  std::vector<std::string> languages, source_languages;
  uint64_t bytes = 0;  // of the files
  Call::Clock::time_point used = Call::Clock::now();

  void set_languages(const Model& loaded) {
    languages = loaded.languages();
    source_languages = loaded.source_languages();
    if (!source.target_language.empty()) languages = {source.target_language};
    if (!source.source_language.empty()) source_languages = {source.source_language};
  }
  bool has(const std::string& name) const {
    return source.name == name || std::ranges::any_of(source.load.adapters, [&](const auto& one) {
             return one.name == name;
           });
  }
};

namespace {

uint64_t bytes_of(const std::filesystem::path& path) {
  uint64_t bytes = 0;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return file_size(path, ignored);
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size(ignored);
  return bytes;
}

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
  }
}

}  // namespace

ModelRegistry::ModelRegistry(ComputeLoop& loop, uint64_t memory_limit, Warn warn)
    : loop_(loop),
      memory_limit_(memory_limit),
      warn_(std::move(warn)),
      loader_([this] { load_in_turn(); }) {}

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
  std::vector<std::shared_ptr<Slot>> before;
  {
    const MutexLock lock(mutex_);
    before = slots_;
  }
  std::vector<std::shared_ptr<Slot>> now;
  for (const ModelSource& source : sources) {
    const auto kept =
        std::ranges::find_if(before, [&](const auto& slot) { return slot->source == source; });
    now.push_back(kept != before.end() ? *kept : std::make_shared<Slot>(source));
  }
  for (const auto& slot : now)
    if (!slot->source.on_first_use && !slot->model) load(*slot);
  const MutexLock lock(mutex_);
  slots_ = now;
  for (const auto& slot : before)
    if (slot->model && std::ranges::find(now, slot) == now.end()) slot->model->retire();
}

Model ModelRegistry::load_files(Slot& slot) {
  const std::filesystem::path path = resolve_model(slot.source.path, slot.source.load.hub);
  slot.bytes = bytes_of(path);
  if (const auto& draft = slot.source.load.speculation.draft; !draft.empty())
    slot.bytes += bytes_of(resolve_model(draft, slot.source.load.hub));
  make_room(slot);
  return Model::load(path, slot.source.load);
}

void ModelRegistry::load(Slot& slot) {
  try {
    auto model = std::make_shared<ServedModel>(
        slot.source.model ? *slot.source.model : load_files(slot), slot.source.batching, loop_);
    for (const std::string& warning : model->model().warnings()) warn_(slot.source.name, warning);
    const MutexLock lock(mutex_);
    slot.tasks = model->model().tasks();
    slot.set_languages(model->model());
    slot.model = std::move(model);
  } catch (const Error& error) {
    fail("model {}: {}", quoted(slot.source.name), error.what());
  }
}

/// Unloads models until this one fits.
void ModelRegistry::make_room(const Slot& slot) {
  if (memory_limit_ == 0) return;
  const MutexLock lock(mutex_);
  while (true) {
    uint64_t sum = slot.bytes;
    Slot* oldest = nullptr;
    for (const auto& other : slots_) {
      if (!other->model || other.get() == &slot) continue;
      sum += other->bytes;
      const bool idle = other->source.on_first_use && other->model->idle();
      if (idle && (!oldest || other->used < oldest->used)) oldest = other.get();
    }
    if (sum <= memory_limit_) return;
    require(oldest, "it needs {} MB, and the models in use leave {} of {} MB", slot.bytes >> 20,
            (memory_limit_ - std::min(memory_limit_, sum - slot.bytes)) >> 20, memory_limit_ >> 20);
    oldest->model->retire();
    oldest->model.reset();
  }
}

std::shared_ptr<ModelRegistry::Slot> ModelRegistry::slot_of(const std::string& name) const {
  if (name.empty()) {
    if (slots_.size() == 1 && slots_.front()->source.load.adapters.empty()) return slots_.front();
    throw invalid_request("model", "model is missing, and there are several");
  }
  for (const auto& slot : slots_)
    if (slot->has(name)) return slot;
  throw unknown_model(name);
}

ModelRegistry::Target ModelRegistry::target_of(const Slot& slot, const std::string& name) {
  Target target{
      .name = name.empty() ? slot.source.name : name, .model = slot.model, .tasks = slot.tasks};
  if (slot.source.load.adapters.empty()) return target;
  target.adapters.emplace();
  if (target.name != slot.source.name) target.adapters->push_back(target.name);
  // Only a Session lets a request choose among adapters.
  const bool chat = target.tasks.chat;
  target.tasks = {.generate = target.tasks.generate, .chat = chat};
  return target;
}

std::optional<ModelRegistry::Target> ModelRegistry::find_or_load(
    const std::string& name, std::function<void(const Target&)> then,
    std::function<void(const ApiError&)> failed) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<Slot> slot = slot_of(name);
  slot->used = Call::Clock::now();
  if (slot->model) return target_of(*slot, name);
  waiting_.push_back({slot, name, std::move(then), std::move(failed)});
  wanted_.notify_one();
  return std::nullopt;
}

/// The thread that loads models on their first use.
void ModelRegistry::load_in_turn() {
  while (true) {
    MutexLock lock(mutex_);
    while (!ended_ && waiting_.empty()) wanted_.wait(lock);
    if (ended_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    const bool loaded = next.slot->model != nullptr;
    lock.unlock();
    try {
      if (!loaded) load(*next.slot);
      lock.lock();
      const Target target = target_of(*next.slot, next.name);
      lock.unlock();
      next.then(target);
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
  for (const auto& slot : slots_)
    if (slot->model) targets.push_back(target_of(*slot, slot->source.name));
  return targets;
}

std::vector<ModelRegistry::Entry> ModelRegistry::list() const {
  const MutexLock lock(mutex_);
  std::vector<Entry> entries;
  for (const auto& slot : slots_) {
    Entry entry;
    entry.name = slot->source.name;
    entry.loaded = slot->model != nullptr;
    if (slot->model) {
      entry.context_length = slot->model->model().context_length();
      entry.tasks = names_of(target_of(*slot, entry.name).tasks);
      entry.languages = slot->languages;
      entry.source_languages = slot->source_languages;
    }
    entries.push_back(entry);
    entry.base = entry.name;
    for (const AdapterOptions& adapter : slot->source.load.adapters) {
      entry.name = adapter.name;
      entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace heed::serve
