#pragma once

#include "heed/base/utf8.h"

namespace heed::text {

using heed::append_utf8;
using heed::code_point_at;
using heed::code_point_begin;
using heed::CodePoint;
using heed::count_code_points;
using heed::first_invalid_utf8;
using heed::for_each_code_point;
using heed::is_continuation;
using heed::is_valid_utf8;
using heed::require_utf8;
using heed::with_replacements;

}  // namespace heed::text
