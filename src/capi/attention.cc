#include "heed/attention.h"

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_read.h"
#include "heed/tasks/task_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_attention_options, AttentionOptions, HEED_ATTENTION_OPTIONS)

/// A map, and its tokens as C callers read them.
struct StoredMap {
  explicit StoredMap(AttentionMap of) : map(std::move(of)) {
    for (const std::string& query : map.queries) queries.push_back(string_of(query));
    for (const std::string& key : map.keys) keys.push_back(string_of(key));
  }

  AttentionMap map;
  std::vector<heed_string> queries, keys;
};

template <>
struct HandleOf<heed_attention_result> {
  using Object = std::vector<StoredMap>;
  static constexpr const char* kName = "result of heed_attention()";
};

namespace {}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_attention_options)

heed_status heed_attention(heed_model* model, heed_string text,
                           const heed_attention_options* options, heed_attention_result** result,
                           heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    auto maps = std::make_shared<std::vector<StoredMap>>();
    for (heed::AttentionMap& map :
         loaded.attention(std::string(text_of(text, "text")), options_of(read_sized(options))))
      maps->emplace_back(std::move(map));
    set_handle(result, std::move(maps));
  });
}

HEED_DEFINE_COUNT(heed_attention_result)

heed_status heed_attention_result_get(heed_attention_result* result, size_t index,
                                      heed_attention_map* map, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const StoredMap& found = element(*object, index);
    write_sized(map,
                {.struct_size = 0,
                 .kind = static_cast<int32_t>(found.map.kind),
                 .layer = found.map.layer,
                 .first_head = found.map.first_head,
                 .heads = found.map.heads,
                 .queries = found.queries.data(),
                 .query_count = found.queries.size(),
                 .keys = found.keys.data(),
                 .key_count = found.keys.size(),
                 .weights = found.map.weights.data()},
                "map");
  });
}

HEED_DEFINE_FREE(heed_attention_result)
