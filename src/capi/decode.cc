#include "capi/tokenizer.h"
#include "capi/values.h"

namespace heed::capi {
namespace {

/// A stream that one thread uses at a time, and the text that it returned last.
struct GuardedStream {
  DecodeStream stream;
  std::mutex mutex = {};
  std::string text = {};
};

}  // namespace

template <>
struct HandleOf<heed_decode_stream> {
  using Object = GuardedStream;
  static constexpr const char* kName = "decode stream";
};

namespace {

/// Sets `text` to what `next` makes of a stream, which keeps it for the caller.
template <typename Next>
void set_text(const heed_decode_stream* handle, heed_string* text, const Next& next) {
  const auto object = object_of(handle);
  const auto lock = lock_or_busy(object->mutex, "decode stream");
  require_pointer(text, "text");
  object->text = next(object->stream);
  *text = string_of(object->text);
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

heed_status heed_tokenizer_decode(heed_tokenizer* tokenizer, const int32_t* tokens, size_t count,
                                  int32_t skip_special, char* text, size_t capacity, size_t* size,
                                  heed_error* error) {
  return run(error, [&] {
    const heed::Tokenizer loaded = tokenizer_of(tokenizer);
    copy_text_out(loaded.decode(span_of(tokens, count, "tokens"), skip_special != 0), text,
                  capacity, size);
  });
}

heed_status heed_decode_stream_create(heed_tokenizer* tokenizer, int32_t skip_special,
                                      heed_decode_stream** stream, heed_error* error) {
  return run(error, [&] {
    require_output(stream, "stream");
    set_handle(stream, std::shared_ptr<GuardedStream>(new GuardedStream{
                           heed::DecodeStream(tokenizer_of(tokenizer), skip_special != 0)}));
  });
}

heed_status heed_decode_stream_feed(heed_decode_stream* stream, int32_t token, heed_string* text,
                                    heed_error* error) {
  return run(error, [&] {
    set_text(stream, text, [token](heed::DecodeStream& object) { return object.feed(token); });
  });
}

heed_status heed_decode_stream_finish(heed_decode_stream* stream, heed_string* text,
                                      heed_error* error) {
  return run(error, [&] {
    set_text(stream, text, [](heed::DecodeStream& object) { return object.finish(); });
  });
}

HEED_DEFINE_FREE(heed_decode_stream)
