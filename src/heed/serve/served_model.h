#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/model.h"
#include "heed/serve/call.h"
#include "heed/serve/compute_loop.h"
#include "heed/serve/embed_queue.h"
#include "heed/serve/preemption_budget.h"
#include "heed/server.h"
#include "heed/session.h"

namespace heed::serve {

/// A model and its queues: requests of a Session, texts to embed in batches, and single functions.
/// Functions that take a Call may be called by any thread.
class ServedModel : public Workload, public std::enable_shared_from_this<ServedModel> {
 public:
  ServedModel(Model model, const BatchingOptions& options, ComputeLoop& loop);

  const Model& model() const { return model_; }
  const BatchingOptions& options() const { return options_; }

  /// Adds a request whose prompt has `tokens` tokens. `on_delta` is called on the compute thread.
  /// An error of the request, or an exception of `on_delta`, becomes the response of the call and
  /// ends its other work. A cancelled call gets no response. Of the requests that the session has
  /// no room for, those of calls with the highest priority come first, and of these the oldest.
  void generate(std::shared_ptr<Call> call, Request request, int64_t tokens,
                Session::OnDelta on_delta);
  /// Embeds the tokens of texts. `done` is called for each text, with its number.
  void embed(std::shared_ptr<Call> call, std::vector<std::vector<int32_t>> texts,
             std::function<void(size_t number, std::vector<float>)> done);
  /// Calls `function` on the compute thread. An exception of it becomes the response of the call.
  void run(std::shared_ptr<Call> call, int64_t tokens, std::function<void()> function);
  /// The same for inputs with so many tokens each, a few of which, [begin, end), are computed
  /// before others get their turn.
  void run_in_parts(const std::shared_ptr<Call>& call, std::span<const int64_t> tokens,
                    const std::function<void(size_t begin, size_t end)>& function);

  /// Removes the model from the compute loop once the requests that run or wait have ended.
  void retire();
  /// Whether nothing runs or waits.
  bool idle() const { return idle_; }

  bool work() override;
  void drop() override;

  /// Numbers for metrics, after the last step.
  struct Stats {
    int64_t requests = 0, rows = 0, kept_rows = 0, reused_tokens = 0;
  };
  Stats stats() const;

 private:
  struct Job {
    std::shared_ptr<Call> call;
    int64_t tokens;
    std::function<void()> function;
  };
  struct Running {
    std::shared_ptr<Call> call;
    RequestId id;
  };
  struct Waiting {
    std::shared_ptr<Call> call;
    Request request;
    Session::OnDelta on_delta;
  };

  /// Calls `function` on the compute thread, and lets this take turns there from then on.
  void post(std::function<void()> function);
  bool interrupted();
  void add_waiting();
  void step();
  void make_room(const ApiError& error);
  void drop_cancelled();
  void publish_stats(bool idle);

  const Model model_;
  const BatchingOptions options_;
  ComputeLoop& loop_;
  // Of the compute thread:
  std::optional<Session> session_;
  std::vector<Running> running_;
  /// Beyond what the session may run at a time; by priority.
  std::multimap<int, Waiting, std::greater<>> waiting_;
  EmbedQueue texts_;
  std::deque<Job> jobs_;
  bool retired_ = false;
  std::atomic<bool> idle_ = true;
  bool was_interrupted_ = false;  // during this step
  PreemptionBudget preemption_budget_;

  std::atomic<bool> cancels_ = false;     // a call of the session was cancelled
  std::atomic<bool> interrupts_ = false;  // and its input is being computed
  std::atomic<int64_t> requests_ = 0, rows_ = 0, kept_rows_ = 0, reused_tokens_ = 0;
  Call::Clock::time_point counted_ = {};  // the kept rows; of the compute thread
};

}  // namespace heed::serve
