#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "heed/base/file.h"
#include "heed/train/trainer.h"

namespace heed::train::testing {

/// A folder that is gone when its test ends.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("heed_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Sentences of a made-up language and their translation: each word has one, and their order is
/// reversed.
inline void write_text(const Folder& folder, int lines = 200) {
  const char* const words[][2] = {{"one", "uno"},   {"two", "dos"},   {"red", "rojo"},
                                  {"sun", "sol"},   {"sea", "mar"},   {"bread", "pan"},
                                  {"light", "luz"}, {"man", "hombre"}};
  std::ofstream source(folder / "source"), target(folder / "target");
  const CounterRandom random(4);
  for (int line = 0; line < lines; ++line) {
    std::string s, t;
    const uint64_t count = 2 + random.below(static_cast<uint64_t>(line), 4);
    for (uint64_t i = 0; i < count; ++i) {
      const auto& word = words[random.below(static_cast<uint64_t>(line) * 10 + i + 1000, 8)];
      s += (s.empty() ? "" : " ") + std::string(word[0]);
      t = std::string(word[1]) + (t.empty() ? "" : " ") + t;
    }
    source << s << '\n';
    target << t << '\n';
  }
}

/// A run of a second or so.
inline TrainConfig tiny_config(const Folder& folder) {
  TrainConfig config;
  config.data.source = (folder / "source").string();
  config.data.target = (folder / "target").string();
  config.data.held_out = 20;
  config.vocabulary.size = 60;
  config.model.d_model = 16;
  config.model.n_heads = 2;
  config.model.d_ff = 32;
  config.model.encoder_layers = config.model.decoder_layers = 1;
  config.model.max_positions = 64;
  config.optimizer.learning_rate = 0.01;
  config.optimizer.warmup = 5;
  config.run.compute = "f32";
  config.run.token_budget = 128;
  config.run.steps = 24;
  config.run.average = 2;
  config.validation.every = 8;
  config.validation.sentences = 4;
  return config;
}

inline std::unique_ptr<Task> task_of(const TrainConfig& config,
                                     const std::filesystem::path& start = {}) {
  return prepare_task(config, start, [](const std::string&) {});
}

}  // namespace heed::train::testing
