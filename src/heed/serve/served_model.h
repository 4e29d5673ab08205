#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
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

/// A model and the work that waits for it: requests of a Session, texts in batches, single calls.
/// Functions that take a Call may be called by any thread.
class ServedModel : public Workload, public std::enable_shared_from_this<ServedModel> {
 public:
  ServedModel(Model model, const BatchingOptions& options, ComputeLoop& loop);

  const Model& model() const { return model_; }

  /// Adds a request whose prompt has `tokens` tokens. `on_delta` is called on the compute thread,
  /// but not with errors: what goes wrong, and what it throws, answers the call and ends its work.
  /// A cancelled call ends without a word.
  void generate(std::shared_ptr<Call> call, Request request, int64_t tokens,
                Session::OnDelta on_delta);
  /// Embeds the tokens of texts. `done` is called for each text, with its number.
  void embed(std::shared_ptr<Call> call, std::vector<std::vector<int32_t>> texts,
             std::function<void(size_t number, std::vector<float>)> done);
  /// Calls `function` on the compute thread; what it throws answers the call.
  void run(std::shared_ptr<Call> call, int64_t tokens, std::function<void()> function);

  /// Forgets what it keeps for later requests, when what is running or waiting has ended.
  void retire();
  /// Whether nothing runs or waits.
  bool idle() const { return idle_; }

  bool work() override;
  void drop() override;

  /// Of the last step.
  struct Load {
    int64_t requests = 0, rows = 0, reused_tokens = 0;
  };
  Load load() const;

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

  /// Calls `function` on the compute thread, where this takes turns from then on.
  void post(std::function<void()> function);
  bool interrupted();
  void step();
  void drop_cancelled();
  void publish_load();

  const Model model_;
  ComputeLoop& loop_;
  // Of the compute thread:
  std::optional<Session> session_;
  std::vector<Running> running_;
  EmbedQueue texts_;
  std::deque<Job> jobs_;
  bool retired_ = false;
  std::atomic<bool> idle_ = true;
  bool was_interrupted_ = false;  // this step
  PreemptionBudget waste_;

  std::atomic<bool> cancels_ = false;     // a call of the session was cancelled
  std::atomic<bool> interrupts_ = false;  // and its input is being computed
  std::atomic<int64_t> load_requests_ = 0, load_rows_ = 0, load_reused_ = 0;
};

}  // namespace heed::serve
