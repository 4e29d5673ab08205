#pragma once

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "capi/sized.h"
#include "capi/values.h"
#include "heed/base/names.h"

// Options as members of C's structs, where one that is not set is HEED_DEFAULT, NaN or NULL.
namespace heed::capi {

inline void to_c(std::optional<uint64_t> from, uint64_t& to) { to = from.value_or(0); }
template <typename Value, typename Member>
void to_c(const Value& from, Member& to) {
  if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>)
    to = static_cast<Member>(from);
  else if constexpr (std::is_same_v<Value, std::chrono::milliseconds>)
    to = from.count();
  else if constexpr (std::is_same_v<Member, heed_string>)
    to = heed_string_of("");
  else if constexpr (std::is_pointer_v<Member>)
    to = nullptr;
  else if constexpr (std::is_floating_point_v<Member>)
    to = std::numeric_limits<Member>::quiet_NaN();
  else
    to = HEED_DEFAULT;
}

template <typename Member, typename Number>
requires std::is_arithmetic_v<Number>
void from_c(Member from, Number& to, const char* /*name*/) { to = static_cast<Number>(from); }
template <typename Member, typename Number>
void from_c(Member from, std::optional<Number>& to, const char* name) {
  if constexpr (std::is_enum_v<Number>) {
    to = choice(from, enumerators<Number>().back(), name);
  } else if constexpr (std::is_pointer_v<Member>) {
    if (from) to = from;
  } else if constexpr (std::is_floating_point_v<Member>) {
    if (!std::isnan(from)) to = from;
  } else if (std::is_unsigned_v<Member> || from != static_cast<Member>(HEED_DEFAULT)) {
    to = static_cast<Number>(from);
  }
}
template <typename Enum>
requires std::is_enum_v<Enum>
void from_c(int32_t from, Enum& to, const char* name) {
  to = choice(from, enumerators<Enum>().back(), name).value_or(Enum());
}
inline void from_c(int64_t from, std::chrono::milliseconds& to, const char* /*name*/) {
  to = std::chrono::milliseconds(from);
}
inline void from_c(const char* from, std::string& to, const char* /*name*/) {
  if (from) to = from;
}
inline void from_c(const char* from, std::filesystem::path& to, const char* /*name*/) {
  if (from) to = from;
}
inline void from_c(heed_string from, std::string& to, const char* name) {
  to = text_of(from, name);
}

template <typename CStruct>
void set_first_number(CStruct& options) {
  if constexpr (requires { options.first_number; }) options.first_number = 1;
}

// Sets members that are called as the options of a table to the defaults, and reads them.
#define HEED_C_MEMBERS(CStruct, Struct, ROWS)                                    \
  inline void write_options(const Struct& from, CStruct& to) { ROWS(HEED_TO_C) } \
  inline void read_options(const CStruct& from, Struct& to) { ROWS(HEED_FROM_C) }
#define HEED_TO_C(option, ...) to_c(from.option, to.option);
#define HEED_FROM_C(option, ...) from_c(from.option, to.option, #option);

// A struct that has no other options than these.
#define HEED_C_OPTIONS(CStruct, Struct, ROWS)     \
  HEED_C_MEMBERS(CStruct, Struct, ROWS)           \
  template <>                                     \
  CStruct defaults<CStruct>() {                   \
    CStruct options{};                            \
    write_options(Struct(), options);             \
    set_first_number(options);                    \
    return options;                               \
  }                                               \
  inline Struct options_of(const CStruct& from) { \
    Struct options;                               \
    read_options(from, options);                  \
    return options;                               \
  }

}  // namespace heed::capi
