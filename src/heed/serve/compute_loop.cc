#include "heed/serve/compute_loop.h"

#include <algorithm>
#include <utility>

namespace heed::serve {

ComputeLoop::ComputeLoop() : thread_([this] { loop(); }) {}

ComputeLoop::~ComputeLoop() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  posted_.notify_one();
  thread_.join();
}

void ComputeLoop::post(std::function<void()> function) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(function));
  }
  posted_.notify_one();
}

std::chrono::milliseconds ComputeLoop::busy_for() const {
  const Clock::rep began = part_began_;
  if (began == 0) return std::chrono::milliseconds(0);
  const auto passed = Clock::now().time_since_epoch() - Clock::duration(began);
  return std::chrono::duration_cast<std::chrono::milliseconds>(passed);
}

void ComputeLoop::add(const std::shared_ptr<Workload>& workload) {
  if (std::ranges::find(workloads_, workload) == workloads_.end()) workloads_.push_back(workload);
}

void ComputeLoop::remove(const Workload& workload) {
  std::erase_if(workloads_, [&](const auto& one) { return one.get() == &workload; });
}

void ComputeLoop::loop() {
  bool busy = false;
  while (true) {
    std::vector<std::function<void()>> tasks;
    {
      MutexLock lock(mutex_);
      while (!busy && !ended_ && tasks_.empty()) {
        part_began_ = 0;
        posted_.wait(lock);
      }
      if (ended_) break;
      tasks.swap(tasks_);
    }
    for (std::function<void()>& task : tasks) {
      begin_part();
      std::exchange(task, nullptr)();
    }
    busy = false;
    for (const std::shared_ptr<Workload>& workload : workloads_) {
      begin_part();
      busy |= workload->work();
    }
  }
  for (const std::shared_ptr<Workload>& workload : workloads_) workload->drop();
}

}  // namespace heed::serve
