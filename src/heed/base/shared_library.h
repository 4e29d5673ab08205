#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace heed {

/// A library of the system that is opened when it is first needed. Linking it instead would make
/// every start of the program slower, also of commands that do not need it. It stays open, so its
/// functions may be kept.
class SharedLibrary {
 public:
  /// Opens the first of `names` ("libcurl.so.4") that exists. Throws Error, which names the
  /// `purpose` ("downloading a model") and the Debian `package`, when there is none.
  SharedLibrary(std::initializer_list<const char*> names, std::string_view purpose,
                std::string_view package);

  /// Sets `pointer` to the function `name`. Throws Error when the library lacks it.
  template <typename Function>
  void find(Function*& pointer, const char* name) const {
    pointer = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace heed
