#include "capi/executor.h"
#include "capi/sized.h"
#include "capi/tokenizer.h"
#include "capi/values.h"

namespace heed::capi {

template <>
heed_encode_options defaults<heed_encode_options>() {
  const EncodeOptions built_in;
  heed_encode_options options{};
  options.max_tokens = built_in.max_tokens;
  options.special = built_in.special;
  options.offsets = HEED_OFFSETS_BYTES;
  return options;
}

namespace {

/// The tokens of a text, and what C callers see of them.
class StoredEncoding {
 public:
  explicit StoredEncoding(Encoding encoding) : encoding_(std::move(encoding)) {
    offsets_.reserve(encoding_.offsets.size());
    for (const TokenOffsets& place : encoding_.offsets)
      offsets_.push_back({.begin = place.begin, .end = place.end});
  }

  heed_encoding view() const {
    return {.struct_size = 0,
            .tokens = encoding_.ids.data(),
            .type_ids = encoding_.type_ids.data(),
            .sequence_ids = encoding_.sequence_ids.data(),
            .offsets = offsets_.data(),
            .token_count = encoding_.ids.size()};
  }

 private:
  Encoding encoding_;
  std::vector<heed_token_offsets> offsets_;
};

}  // namespace

template <>
struct HandleOf<heed_encode_result> {
  using Object = std::vector<StoredEncoding>;
  static constexpr const char* kName = "result of heed_tokenizer_encode_batch()";
};

namespace {

EncodeOptions encode_options(const heed_encode_options& from) {
  const std::optional<OffsetUnit> offsets =
      choice(from.offsets, OffsetUnit::code_points, "offsets");
  return {.special = from.special != 0,
          .max_tokens = from.max_tokens,
          .offsets = offsets.value_or(OffsetUnit::bytes)};
}

void set_result(heed_encode_result** result, std::vector<Encoding> encodings) {
  auto all = std::make_shared<std::vector<StoredEncoding>>();
  all->reserve(encodings.size());
  for (Encoding& encoding : encodings) all->emplace_back(std::move(encoding));
  set_handle(result, std::move(all));
}

void set_result(heed_encode_result** result, Encoding encoding) {
  std::vector<Encoding> one;
  one.push_back(std::move(encoding));
  set_result(result, std::move(one));
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_encode_options)

heed_status heed_tokenizer_encode(heed_tokenizer* tokenizer, heed_string text, int32_t special,
                                  int32_t* tokens, size_t capacity, size_t* count,
                                  heed_error* error) {
  return run(error, [&] {
    const std::vector<int32_t> ids =
        tokenizer_of(tokenizer).encode(text_of(text, "text"), special != 0);
    copy_out<int32_t>(ids, tokens, capacity, count);
  });
}

heed_status heed_tokenizer_encode_batch(heed_tokenizer* tokenizer, const heed_string* texts,
                                        size_t count, int32_t special, heed_executor* executor,
                                        heed_encode_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    auto batch = tokenizer_of(tokenizer).encode_batch(texts_of(texts, count, "texts"), special != 0,
                                                      executor_of(executor));
    std::vector<heed::Encoding> encodings(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) encodings[i].ids = std::move(batch[i]);
    set_result(result, std::move(encodings));
  });
}

heed_status heed_tokenizer_encode_with_offsets(heed_tokenizer* tokenizer, heed_string text,
                                               const heed_encode_options* options,
                                               heed_encode_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    set_result(result, tokenizer_of(tokenizer).encode_with_offsets(
                           text_of(text, "text"), encode_options(read_sized(options))));
  });
}

heed_status heed_tokenizer_encode_pair(heed_tokenizer* tokenizer, heed_string first,
                                       heed_string second, const heed_encode_options* options,
                                       heed_encode_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    set_result(result, tokenizer_of(tokenizer).encode_pair(text_of(first, "first"),
                                                           text_of(second, "second"),
                                                           encode_options(read_sized(options))));
  });
}

heed_status heed_tokenizer_encode_batch_with_offsets(heed_tokenizer* tokenizer,
                                                     const heed_string* texts, size_t count,
                                                     const heed_encode_options* options,
                                                     heed_executor* executor,
                                                     heed_encode_result** result,
                                                     heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    set_result(result, tokenizer_of(tokenizer).encode_batch_with_offsets(
                           texts_of(texts, count, "texts"), encode_options(read_sized(options)),
                           executor_of(executor)));
  });
}

HEED_DEFINE_COUNT(heed_encode_result)

heed_status heed_encode_result_get(heed_encode_result* result, size_t index,
                                   heed_encoding* encoding, heed_error* error) {
  return run(error,
             [&] { write_sized(encoding, element(*object_of(result), index).view(), "encoding"); });
}

HEED_DEFINE_FREE(heed_encode_result)
