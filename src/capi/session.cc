#include "heed/session.h"

#include "capi/generate.h"
#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/c_session.h"
#include "heed/engine/engine_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_session_options, SessionOptions, HEED_SESSION_OPTIONS)

template <>
heed_request defaults<heed_request>() {
  return {};
}

namespace {

/// A session that one thread uses at a time, callbacks included.
struct GuardedSession {
  Session session;
  std::recursive_mutex mutex = {};
  bool stepping = false;
};

}  // namespace

template <>
struct HandleOf<heed_session> {
  using Object = GuardedSession;
  static constexpr const char* kName = "session";
};

namespace {

/// The session of a handle while this thread uses it. Throws StatusError when another one does.
class LockedSession {
 public:
  explicit LockedSession(const heed_session* handle)
      : object_(object_of(handle)), lock_(lock_or_busy(object_->mutex, "session")) {}

  Session* operator->() const { return &object_->session; }

  void require_no_step() const {
    if (object_->stepping)
      throw StatusError(HEED_ERROR_BUSY, "the session is in heed_session_step()");
  }

  bool step() const {
    require_no_step();
    object_->stepping = true;
    try {
      const bool left = object_->session.step();
      object_->stepping = false;
      return left;
    } catch (...) {
      object_->stepping = false;
      throw;
    }
  }

 private:
  std::shared_ptr<GuardedSession> object_;
  std::unique_lock<std::recursive_mutex> lock_;
};

SessionOptions session_options(const heed_session_options& from) {
  SessionOptions options = options_of(from);
  if (from.interrupted)
    options.interrupted = [asked = from.interrupted, user_data = from.user_data] {
      return asked(user_data) != 0;
    };
  return options;
}

Request request_of(const heed_request& from) {
  const heed_generate_options generate = read_sized(from.options, "request->options");
  Request request{.prompt = prompt_of(from.prompt), .options = generate_options(generate)};
  request.number = generate.first_number;
  if (from.search) request.search = search_options(read_sized(from.search, "request->search"));
  request.source_language = text_or_empty(from.source_language);
  request.target_language = text_or_empty(from.target_language);
  request.alignments = from.alignments != 0;
  request.confidence = from.confidence != 0;
  if (!from.adapters) return request;
  request.adapters.emplace();
  for (const char* name : span_of(from.adapters, from.adapter_count, "adapters")) {
    require_pointer(name, "the name of an adapter");
    request.adapters->push_back(name);
  }
  return request;
}

/// Calls a callback. Returns whether the request goes on.
bool call_back(const Delta& delta, heed_on_delta on_delta, void* user_data) {
  heed_delta view{};
  view.struct_size = sizeof(view);
  view.request = delta.request;
  view.text = string_of(delta.text);
  view.tokens = delta.tokens.data();
  view.token_count = delta.tokens.size();
  std::optional<StoredGeneration> generation;
  heed_generation generation_view;
  if (delta.generation) {
    generation.emplace(*delta.generation);
    generation_view = generation->view();
    view.generation = &generation_view;
  }
  std::vector<StoredCandidate> candidates;
  std::vector<heed_candidate> candidate_views;
  std::vector<heed_confidence> confidences;
  if (delta.candidates) {
    candidates = stored(*delta.candidates);
    for (const StoredCandidate& candidate : candidates) {
      candidate_views.push_back(candidate.view());
      if (candidate.has_confidence()) confidences.push_back(candidate.confidence());
    }
    if (!confidences.empty()) view.confidences = confidences.data();
    view.candidates = candidate_views.data();
    view.candidate_count = candidate_views.size();
  }
  if (delta.error) view.failure = delta.error->what();
  return on_delta(user_data, &view) == 0;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_session_options)

HEED_DEFINE_INIT(heed_request)

heed_status heed_session_create(heed_model* model, const heed_session_options* options,
                                heed_session** session, heed_error* error) {
  return run(error, [&] {
    require_output(session, "session");
    const heed::Model loaded = model_of(model);
    set_handle(session, std::shared_ptr<GuardedSession>(new GuardedSession{
                            heed::Session(loaded, session_options(read_sized(options)))}));
  });
}

heed_status heed_session_add(heed_session* session, const heed_request* request,
                             heed_on_delta on_delta, void* user_data, uint64_t* id,
                             heed_error* error) {
  return run(error, [&] {
    const LockedSession use(session);
    require_pointer(request, "request");
    require_argument(on_delta != nullptr, "on_delta is NULL");
    require_pointer(id, "id");
    *id = use->add(request_of(read_sized(request, "request")),
                   [on_delta, user_data](const heed::Delta& delta) {
                     return call_back(delta, on_delta, user_data);
                   });
  });
}

heed_status heed_session_cancel(heed_session* session, uint64_t id, heed_error* error) {
  return run(error, [&] { LockedSession(session)->cancel(id); });
}

heed_status heed_session_step(heed_session* session, int32_t* requests_left, heed_error* error) {
  return run(error, [&] {
    const LockedSession use(session);
    require_pointer(requests_left, "requests_left");
    *requests_left = use.step();
  });
}

heed_status heed_session_close(heed_session* session, heed_error* error) {
  return run(error, [&] {
    const LockedSession use(session);
    use.require_no_step();
    use->close();
  });
}

HEED_DEFINE_FREE(heed_session)

heed_status heed_session_get_facts(heed_session* session, heed_session_facts* facts,
                                   heed_error* error) {
  return run(error, [&] {
    const LockedSession use(session);
    write_sized(facts,
                {.struct_size = 0,
                 .requests = use->requests(),
                 .waiting_requests = use->waiting_requests(),
                 .rows_in_use = use->rows_in_use(),
                 .reused_tokens = use->reused_tokens()},
                "facts");
  });
}

heed_status heed_session_clear_cached_tokens(heed_session* session, heed_error* error) {
  return run(error, [&] { LockedSession(session)->clear_cached_tokens(); });
}
