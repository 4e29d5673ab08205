#include "capi/tokenizer.h"

#include "capi/options.h"
#include "heed/text/tokenizer_options.h"

namespace heed::capi {
namespace {

constexpr heed_string kEndOfText{"<|endoftext|>", 13};

}  // namespace

HEED_C_MEMBERS(heed_train_tokenizer_options, TrainTokenizerOptions, HEED_TRAIN_TOKENIZER_NUMBERS)

template <>
heed_train_tokenizer_options defaults<heed_train_tokenizer_options>() {
  heed_train_tokenizer_options options{};
  write_options(TrainTokenizerOptions(), options);
  options.kind = HEED_TOKENIZER_BYTE_LEVEL_BPE;
  options.special_tokens = &kEndOfText;
  options.special_token_count = 1;
  options.pre_tokenizer = "gpt-2";
  return options;
}

namespace {

TrainTokenizerOptions train_options(const heed_train_tokenizer_options& from) {
  using Kind = TrainTokenizerOptions::Kind;
  require_pointer(from.pre_tokenizer, "pre_tokenizer");
  const std::optional<Kind> kind = choice(from.kind, Kind::unigram, "kind");
  require_argument(kind.has_value(), "kind is HEED_DEFAULT");
  TrainTokenizerOptions options{
      .kind = *kind,
      .special_tokens = texts_of(from.special_tokens, from.special_token_count, "special_tokens"),
      .pre_tokenizer = from.pre_tokenizer};
  read_options(from, options);
  return options;
}

heed_tokenizer_facts facts_of(const LoadedTokenizer& loaded) {
  const SpecialTokens& special = loaded.tokenizer.special_tokens();
  return {.struct_size = 0,
          .vocab_size = loaded.tokenizer.vocab_size(),
          .added_token_count = loaded.added_tokens.size(),
          .bos = special.bos.value_or(-1),
          .eos = special.eos.value_or(-1),
          .pad = special.pad.value_or(-1),
          .unk = special.unk.value_or(-1),
          .mask = special.mask.value_or(-1),
          .sep = special.sep.value_or(-1),
          .cls = special.cls.value_or(-1),
          .reserved = 0};
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_train_tokenizer_options)

heed_status heed_tokenizer_load(const char* path, heed_tokenizer** tokenizer, heed_error* error) {
  return run(error, [&] {
    require_output(tokenizer, "tokenizer");
    require_pointer(path, "path");
    set_handle(tokenizer, std::make_shared<LoadedTokenizer>(heed::Tokenizer::load(path)));
  });
}

heed_status heed_tokenizer_save(heed_tokenizer* tokenizer, const char* directory,
                                heed_error* error) {
  return run(error, [&] {
    const heed::Tokenizer loaded = tokenizer_of(tokenizer);
    require_pointer(directory, "directory");
    loaded.save(directory);
  });
}

HEED_DEFINE_FREE(heed_tokenizer)

heed_status heed_tokenizer_train(const heed_string* texts, size_t count,
                                 const heed_train_tokenizer_options* options,
                                 heed_tokenizer** tokenizer, heed_error* error) {
  return run(error, [&] {
    require_output(tokenizer, "tokenizer");
    set_handle(tokenizer,
               std::make_shared<LoadedTokenizer>(heed::Tokenizer::train(
                   texts_of(texts, count, "texts"), train_options(read_sized(options)))));
  });
}

heed_status heed_tokenizer_get_facts(heed_tokenizer* tokenizer, heed_tokenizer_facts* facts,
                                     heed_error* error) {
  return run(error, [&] { write_sized(facts, facts_of(*object_of(tokenizer)), "facts"); });
}

heed_status heed_tokenizer_warnings(heed_tokenizer* tokenizer, char* text, size_t capacity,
                                    size_t* size, heed_error* error) {
  return run(error, [&] {
    copy_text_out(lines_of(object_of(tokenizer)->tokenizer.warnings()), text, capacity, size);
  });
}

heed_status heed_tokenizer_added_token(heed_tokenizer* tokenizer, size_t index,
                                       heed_added_token* token, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(tokenizer);
    const heed::AddedToken& added = element(object->added_tokens, index);
    write_sized(token,
                {.struct_size = 0,
                 .id = added.id,
                 .special = added.special,
                 .content = string_of(added.content)},
                "token");
  });
}

heed_status heed_tokenizer_token(heed_tokenizer* tokenizer, int32_t id, heed_string* token,
                                 heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(tokenizer);
    require_pointer(token, "token");
    *token = string_of(object->tokenizer.token(id));
  });
}

heed_status heed_tokenizer_token_id(heed_tokenizer* tokenizer, heed_string token, int32_t* id,
                                    heed_error* error) {
  return run(error, [&] {
    write_value(id, object_of(tokenizer)->tokenizer.token_id(text_of(token, "token")).value_or(-1),
                "id");
  });
}

heed_status heed_tokenizer_is_special(heed_tokenizer* tokenizer, int32_t id, int32_t* special,
                                      heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(tokenizer);
    require_pointer(special, "special");
    *special = object->tokenizer.is_special(id);
  });
}
