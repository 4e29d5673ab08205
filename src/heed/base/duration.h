#pragma once

#include <string>

namespace heed {

/// "1:02:03" or "4:05".
std::string duration_text(double seconds);

}  // namespace heed
