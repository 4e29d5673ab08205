#pragma once

#include <nlohmann/json.hpp>

/// What most files need of a class of <nlohmann/json.hpp>. Instantiated in base/json.cc: all of the
/// class would take longer to compile there than it saves elsewhere.
#define HEED_JSON_INSTANCE(KEYWORD, Json)                                               \
  KEYWORD template Json::basic_json(const Json&);                                       \
  KEYWORD template Json::basic_json(Json::initializer_list_t, bool, Json::value_t);     \
  KEYWORD template void Json::json_value::destroy(Json::value_t);                       \
  KEYWORD template void Json::update(Json::const_iterator, Json::const_iterator, bool); \
  KEYWORD template Json& Json::operator[](Json::object_t::key_type)

HEED_JSON_INSTANCE(extern, nlohmann::basic_json<>);
HEED_JSON_INSTANCE(extern, nlohmann::basic_json<nlohmann::ordered_map>);
