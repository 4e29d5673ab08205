#include "heed/base/error.h"
#include "heed/base/mutex.h"
#include "heed/constrain/schema/schema_validator.h"
#include "heed/json_schema.h"

namespace heed {

struct JsonSchema::State {
  std::string schema;
  std::vector<std::string> ignored;
  Mutex mutex;
  std::unique_ptr<constrain::SchemaValidator> validator HEED_GUARDED_BY(mutex);
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
