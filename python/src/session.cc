#include "heed/session.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/engine/engine_options.h"
#include "model.h"
#include "options.h"

namespace heed::python {
namespace {

/// heed::Delta, with what it refers to.
struct OwnDelta {
  RequestId request = 0;
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<TokenLogProbability> chosen;
  std::vector<std::vector<TokenLogProbability>> best;
  std::optional<Generation> generation = {};
  std::optional<std::vector<Candidate>> candidates = {};
  std::optional<std::string> error = {};
};

OwnDelta own(const Delta& delta) {
  OwnDelta result{.request = delta.request,
                  .text = std::string(delta.text),
                  .tokens = {delta.tokens.begin(), delta.tokens.end()},
                  .chosen = {delta.chosen.begin(), delta.chosen.end()},
                  .best = {delta.best.begin(), delta.best.end()}};
  if (delta.generation != nullptr) result.generation = *delta.generation;
  if (delta.candidates != nullptr) result.candidates = *delta.candidates;
  if (delta.error != nullptr) result.error = delta.error->what();
  return result;
}

/// A session whose step() returns what has been added. Python threads that use it at the same time
/// get an Error.
class OpenSession {
 public:
  OpenSession(const OpenModel& model, const Options& options) {
    const auto session_options = only_options<engine::SessionOption>(options, "Session");
    model_ = model.get();
    session_ = run([&] { return std::make_unique<Session>(*model_, session_options); });
  }

  RequestId add(nb::handle prompt, const Options& options) {
    const Use use(*this);
    Keywords keywords(options);
    const Request request = take_request(prompt, keywords);
    keywords.finish("add");
    if (model_) prepare_output(*model_, request.options);
    return run([&] {
      return session_->add(request, [this](const Delta& delta) {
        deltas_.push_back(own(delta));
        return true;
      });
    });
  }

  nb::typed<nb::list, OwnDelta> step() {
    const Use use(*this);
    run([&] { session_->step(); });
    return list_of(std::exchange(deltas_, {}));
  }

  void cancel(RequestId request) {
    const Use use(*this);
    session_->cancel(request);
  }

  void close() {
    const Use use(*this);
    session_->close();
    model_.reset();
  }

  /// A property of the session.
  template <auto member>
  auto get() {
    const Use use(*this);
    return (session_.get()->*member)();
  }

  bool has(RequestId request) {
    const Use use(*this);
    return session_->has(request);
  }

 private:
  /// Is made and ends with the GIL held.
  class Use {
   public:
    explicit Use(OpenSession& session) : session_(session) {
      if (session.in_use_) throw Error("the session is used by another thread");
      session.in_use_ = true;
    }
    ~Use() { session_.in_use_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    OpenSession& session_;
  };

  std::optional<Model> model_;  // until it is closed
  std::unique_ptr<Session> session_;
  std::vector<OwnDelta> deltas_;
  bool in_use_ = false;
};

void bind_delta(nb::module_& m) {
  nb::class_<OwnDelta>(m, "Delta", "What a step has added to the output of a request.")
      .def_ro("request", &OwnDelta::request, "the number that Session.add() returned")
      .def_ro("text", &OwnDelta::text, "whole code points")
      .def_ro("tokens", &OwnDelta::tokens, "the new token ids")
      .def_ro("chosen", &OwnDelta::chosen, "with top_log_probabilities: of each token")
      .def_ro("best", &OwnDelta::best, "with top_log_probabilities: most probable first")
      .def_ro("generation", &OwnDelta::generation, "in the last delta: the whole output")
      .def_ro("candidates", &OwnDelta::candidates, "in the last delta of a search: best first")
      .def_ro("error", &OwnDelta::error, "in the last delta: why the request failed");
}

}  // namespace

void bind_session(nb::module_& m) {
  bind_delta(m);
  nb::class_<OpenSession>(m, "Session")
      .def(nb::init<const OpenModel&, const Options&>(), nb::arg("model"), nb::arg("options"))
      .def("add", &OpenSession::add, nb::arg("prompt"), nb::arg("options"))
      .def("step", &OpenSession::step)
      .def("cancel", &OpenSession::cancel, nb::arg("request"))
      .def("close", &OpenSession::close)
      .def("has", &OpenSession::has, nb::arg("request"))
      .def_prop_ro("requests", &OpenSession::get<&Session::requests>)
      .def_prop_ro("waiting_requests", &OpenSession::get<&Session::waiting_requests>)
      .def_prop_ro("rows_in_use", &OpenSession::get<&Session::rows_in_use>)
      .def_prop_ro("reused_tokens", &OpenSession::get<&Session::reused_tokens>)
      .def("clear_cached_tokens", &OpenSession::get<&Session::clear_cached_tokens>);
}

}  // namespace heed::python
