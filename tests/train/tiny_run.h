#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/train/trainer.h"
#include "tests/base/testing.h"

namespace heed::train::testing {

/// Sentences of an artificial language and their translations: word for word, in reverse order.
inline void write_text(const TemporaryDirectory& folder, int lines = 200) {
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

/// A run that takes about a second.
inline TrainConfig tiny_config(const TemporaryDirectory& folder) {
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
  config.optimizer.warmup_steps = 5;
  config.run.compute = "f32";
  config.run.token_budget = 128;
  config.run.max_steps = 24;
  config.run.average = 2;
  config.run.average_window = 1;
  config.validation.eval_steps = 8;
  config.validation.sentences = 4;
  return config;
}

inline std::unique_ptr<Task> task_of(const TrainConfig& config,
                                     const std::filesystem::path& start = {}) {
  Observer silent;
  return prepare_task(config, start, silent);
}

/// A session of a run.
struct Session {
  bool resume = false;
  std::function<bool()> stop_requested = [] { return false; };
  std::function<void(const Trainer&)> after_validation = [](const Trainer&) {};
  std::vector<std::string>* lines = nullptr;  // receives what is logged
};

class SessionObserver : public Observer {
 public:
  explicit SessionObserver(Session session) : session_(std::move(session)) {}

  void log(const std::string& line) override {
    if (session_.lines != nullptr) session_.lines->push_back(line);
  }
  void validation(const Trainer& trainer) override { session_.after_validation(trainer); }

 private:
  Session session_;
};

/// Trains in `folder`/`out` as `heed train` does.
inline Trainer::Outcome train(const TrainConfig& config, const TemporaryDirectory& folder,
                              const std::string& out, const Session& session = {}) {
  const RunDirectory run =
      session.resume ? RunDirectory::resume(folder / out) : RunDirectory::begin(folder / out);
  const auto task = task_of(config, vocabulary_source(config, run));
  SessionObserver observer(session);
  Trainer trainer(config, *task, run, observer, {.stop_requested = session.stop_requested});
  return trainer.run();
}

/// Requests a stop at its call number `steps`.
inline std::function<bool()> stop_after(int steps) {
  return [left = steps]() mutable { return --left <= 0; };
}

}  // namespace heed::train::testing
