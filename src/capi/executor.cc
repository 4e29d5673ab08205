#include "capi/executor.h"

using namespace heed::capi;

heed_status heed_executor_create(int32_t threads, heed_executor** executor, heed_error* error) {
  return run(error, [&] {
    require_output(executor, "executor");
    set_handle(executor, std::make_shared<heed::Executor>(threads));
  });
}

heed_status heed_executor_threads(heed_executor* executor, int32_t* threads, heed_error* error) {
  return run(error, [&] { write_value(threads, object_of(executor)->threads(), "threads"); });
}

HEED_DEFINE_FREE(heed_executor)
