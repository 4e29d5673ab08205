#include "heed/hub/http.h"

#include <array>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/hub/curl_library.h"

namespace heed::hub {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxHeadBytes = size_t{256} << 10;
/// A connection stalls when it brings less in HubTimeouts::stall.
constexpr uint64_t kLeastBytes = 1024;

void check_multi(CURLMcode status) {
  require(status == CURLM_OK, "libcurl: {}", Curl::get().multi_strerror(status));
}

Outcome outcome_of(CURLcode status) {
  switch (status) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return Outcome::unreachable;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return Outcome::invalid;
    default:
      return Outcome::broken_off;
  }
}

}  // namespace

/// A running request. libcurl calls back into it, so it does not move.
class Http::Transfer {
 public:
  Transfer(CURLM* multi, Request request, const HubTimeouts& timeouts);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() const { return easy_; }
  bool has_stalled();
  /// The response when libcurl has ended with `status`. Throws what begin() or receive() threw.
  Response response(CURLcode status);
  Response stalled() const;

 private:
  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode status = Curl::get().easy_setopt(easy_, option, value);
    require(status == CURLE_OK, "libcurl cannot set option {}: {}", static_cast<int>(option),
            Curl::get().easy_strerror(status));
  }
  void set_limits();
  void begin_body();

  /// `action`'s result; 0, which ends the transfer, when it throws.
  template <typename Action>
  size_t guarded(const Action& action) {
    try {
      return action();
    } catch (...) {
      thrown_ = std::current_exception();
      return 0;
    }
  }
  static size_t on_head(const char* bytes, size_t one, size_t size, void* self);
  static size_t on_body(const char* bytes, size_t one, size_t size, void* self);

  CURLM* multi_;
  CURL* easy_;
  const Request request_;
  const HubTimeouts timeouts_;
  std::array<char, CURL_ERROR_SIZE> message_{};
  ResponseHead head_;
  std::string problem_;
  std::exception_ptr thrown_;
  bool begun_ = false;
  size_t head_bytes_ = 0;
  uint64_t bytes_ = 0, bytes_at_mark_ = 0;
  Clock::time_point mark_ = Clock::now();
};

Http::Transfer::Transfer(CURLM* multi, Request request, const HubTimeouts& timeouts)
    : multi_(multi),
      easy_(Curl::get().easy_init()),
      request_(std::move(request)),
      timeouts_(timeouts) {
  require(easy_ != nullptr, "libcurl cannot make a request");
  try {
    set(CURLOPT_URL, request_.url.c_str());
    if (!request_.token.empty()) {
      // libcurl keeps it from other hosts and ports, unlike a header of one's own.
      set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
      set(CURLOPT_XOAUTH2_BEARER, request_.token.c_str());
    }
    if (request_.offset > 0) set(CURLOPT_RANGE, fmt::format("{}-", request_.offset).c_str());
    set_limits();
    set(CURLOPT_ERRORBUFFER, message_.data());
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_head);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    check_multi(Curl::get().multi_add_handle(multi_, easy_));
  } catch (...) {
    Curl::get().easy_cleanup(easy_);
    throw;
  }
}

Http::Transfer::~Transfer() {
  Curl::get().multi_remove_handle(multi_, easy_);
  Curl::get().easy_cleanup(easy_);
}

void Http::Transfer::set_limits() {
  const bool secure = request_.url.starts_with("https:");
  set(CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
  set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, 5L);
  set(CURLOPT_USERAGENT, "heed");
  set(CURLOPT_BUFFERSIZE, 512L << 10);
  // libcurl leaves this variable, which Python and the program curl read, to its callers.
  if (const char* authorities = std::getenv("SSL_CERT_FILE"); authorities && *authorities)
    set(CURLOPT_CAINFO, authorities);
  // A connection for each file; with HTTP/2 all would share one, which is slower.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeouts_.connect.count()));
  // Neither signals nor waiting for a thread that still asks for the host's address.
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
}

size_t Http::Transfer::on_head(const char* bytes, size_t one, size_t size, void* self) {
  Transfer& transfer = *static_cast<Transfer*>(self);
  return transfer.guarded([&]() -> size_t {
    transfer.head_bytes_ += one * size;
    transfer.bytes_ += one * size;
    if (transfer.head_bytes_ > kMaxHeadBytes) {
      transfer.problem_ = fmt::format("the server's headers exceed {} bytes", kMaxHeadBytes);
      return 0;
    }
    read_head_line(transfer.head_, {bytes, one * size});
    return one * size;
  });
}

size_t Http::Transfer::on_body(const char* bytes, size_t one, size_t size, void* self) {
  Transfer& transfer = *static_cast<Transfer*>(self);
  return transfer.guarded([&]() -> size_t {
    // The page that comes with an error is not read.
    if (!transfer.head_.has_body()) return 0;
    transfer.bytes_ += one * size;
    transfer.begin_body();
    transfer.request_.receive({bytes, one * size});
    return one * size;
  });
}

void Http::Transfer::begin_body() {
  if (!std::exchange(begun_, true)) request_.begin(head_);
}

bool Http::Transfer::has_stalled() {
  const Clock::time_point now = Clock::now();
  if (bytes_ - bytes_at_mark_ < kLeastBytes) return now - mark_ > timeouts_.stall;
  mark_ = now;
  bytes_at_mark_ = bytes_;
  return false;
}

Response Http::Transfer::stalled() const {
  const auto seconds = std::chrono::duration<double>(timeouts_.stall).count();
  return {Outcome::broken_off, head_,
          fmt::format("the server sent less than {} bytes in {} s", kLeastBytes, seconds)};
}

Response Http::Transfer::response(CURLcode status) {
  if (thrown_) std::rethrow_exception(thrown_);
  if (!problem_.empty()) return {Outcome::invalid, head_, problem_};
  if (head_.status >= 400 || (status == CURLE_OK && !head_.has_body()))
    return {Outcome::refused, head_, head_.text()};
  if (status != CURLE_OK)
    return {outcome_of(status), head_,
            one_line(message_[0] ? message_.data() : Curl::get().easy_strerror(status))};
  begin_body();
  return {Outcome::complete, head_, ""};
}

Http::Http(const HubTimeouts& timeouts) : timeouts_(timeouts), multi_(Curl::get().multi_init()) {
  require(multi_ != nullptr, "libcurl cannot be initialised");
}

Http::~Http() {
  transfers_.clear();
  Curl::get().multi_cleanup(multi_);
}

void Http::start(size_t id, Request request) {
  transfers_[id] = std::make_unique<Transfer>(multi_, std::move(request), timeouts_);
}

void Http::step(std::chrono::milliseconds wait,
                const std::function<void(size_t, Response)>& ended) {
  const Curl& curl = Curl::get();
  int running = 0;
  check_multi(curl.multi_poll(multi_, nullptr, 0, static_cast<int>(wait.count()), nullptr));
  check_multi(curl.multi_perform(multi_, &running));
  std::map<CURL*, CURLcode> over;
  for (int left = 0; const CURLMsg* message = curl.multi_info_read(multi_, &left);)
    if (message->msg == CURLMSG_DONE) over[message->easy_handle] = message->data.result;
  std::vector<std::pair<size_t, Response>> responses;
  for (const auto& [id, transfer] : transfers_) {
    if (const auto found = over.find(transfer->handle()); found != over.end())
      responses.emplace_back(id, transfer->response(found->second));
    else if (transfer->has_stalled())
      responses.emplace_back(id, transfer->stalled());
  }
  for (auto& [id, response] : responses) {
    transfers_.erase(id);
    ended(id, std::move(response));
  }
}

}  // namespace heed::hub
