#include "heed/base/shared_library.h"

#include <dlfcn.h>

#include "heed/base/error.h"

namespace heed {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names, std::string_view purpose,
                             std::string_view package) {
  std::string problem;
  for (const char* name : names) {
    name_ = name;
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ != nullptr) return;
    if (problem.empty()) problem = ::dlerror();
  }
  fail("{} needs a library that cannot be opened: {} (Debian's package is {})", purpose, problem,
       package);
}

void* SharedLibrary::address_of(const char* name) const {
  void* address = ::dlsym(handle_, name);
  require(address != nullptr, "{} has no function {}", name_, name);
  return address;
}

}  // namespace heed
