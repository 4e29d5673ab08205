#include "heed/base/error.h"
#include "heed/base/mutex.h"
#include "heed/constrain/schema/schema_validator.h"
#include "heed/json_schema.h"

namespace heed {

namespace {

/// A validator keeps what texts have needed. It is made again after so many bytes of them.
constexpr size_t kMostJudgedBytes = size_t{64} << 20;

}  // namespace

struct JsonSchema::State {
  std::string schema;
  std::vector<std::string> ignored;
  Mutex mutex;
  std::unique_ptr<constrain::SchemaValidator> validator HEED_GUARDED_BY(mutex);
  size_t judged_bytes HEED_GUARDED_BY(mutex) = 0;
};

JsonSchema::JsonSchema(std::string schema) : state_(std::make_shared<State>()) {
  blame_input([&] { constrain::compile_json_schema(schema, {}, &state_->ignored); });
  state_->schema = std::move(schema);
}

JsonSchema::~JsonSchema() = default;

const std::vector<std::string>& JsonSchema::ignored() const { return state_->ignored; }

std::optional<std::string> JsonSchema::violation(std::string_view text) const {
  return blame_input([&]() -> std::optional<std::string> {
    const MutexLock lock(state_->mutex);
    state_->judged_bytes += text.size();
    if (state_->judged_bytes > kMostJudgedBytes) {
      state_->validator.reset();
      state_->judged_bytes = text.size();
    }
    // What the texts before have taken is free in a new one.
    for (const bool is_last : {state_->validator == nullptr, true}) {
      try {
        if (state_->validator == nullptr)
          state_->validator = std::make_unique<constrain::SchemaValidator>(state_->schema);
        return state_->validator->violation(text);
      } catch (const Error&) {
        state_->validator.reset();
        if (is_last) throw;
      }
    }
    return std::nullopt;
  });
}

}  // namespace heed
