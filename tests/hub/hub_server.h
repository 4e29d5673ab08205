// A hub on the loopback interface (hub_server.py), with repositories that a test writes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/hub.h"
#include "tests/base/testing.h"

namespace heed::hub {

/// The names of the files of a folder and its folders.
inline std::set<std::string> files_of(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(folder).string());
  return names;
}

inline constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

/// The server's process, which ends with it.
class HubServer {
 public:
  HubServer() {
    std::filesystem::create_directory(folder_ / "root");
    ::setenv("no_proxy", "127.0.0.1", 1);
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) fail("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (const int end : {in[0], in[1], out[0], out[1]}) ::close(end);
      const std::string script = std::string(HEED_SOURCE_DIR) + "/tests/hub/hub_server.py";
      const std::string root = (folder_ / "root").string();
      ::execlp("python3", "python3", script.c_str(), root.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    std::istringstream(line) >> port_ >> cdn_port_;
    require(cdn_port_ > 0, "hub_server.py does not start: is python3 installed?");
  }
  ~HubServer() {
    ::close(stdin_);
    ::waitpid(process_, nullptr, 0);
  }
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;

  int port() const { return port_; }
  int cdn_port() const { return cdn_port_; }
  std::string endpoint() const { return fmt::format("http://127.0.0.1:{}", port_); }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  /// Where acme/tiny is cached.
  std::filesystem::path cached() const { return cache() / "models--acme--tiny"; }
  std::filesystem::path snapshot() const { return cached() / "snapshots" / kCommit; }

  /// Requests for the list of a repository `from` are redirected to `to`.
  void move(const std::string& from, const std::string& to) const {
    write_quickly(folder_ / "root/moved.json", nlohmann::json{{from, to}}.dump());
  }
  /// Copies the files of acme/tiny to another repository.
  void copy_to(const std::string& repository) const {
    const std::filesystem::path path = folder_ / "root" / repository;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy(folder_ / "root/acme/tiny", path,
                          std::filesystem::copy_options::recursive);
  }

  /// Adds a file to acme/tiny; `lfs`: held by Git LFS, whose requests are redirected.
  void add(const std::string& file, const std::string& contents, bool lfs = false) const {
    const std::filesystem::path path = folder_ / "root/acme/tiny" / file;
    std::filesystem::create_directories(path.parent_path());
    write_quickly(path, contents);
    if (lfs) write_quickly(path.string() + ".lfs", "");
  }
  /// A model with weights of 3 MB.
  void add_model() const {
    add("config.json", R"({"model_type": "llama"})");
    add("tokenizer.json", "{}");
    add("README.md", "not needed");
    add("pytorch_model.bin", "never", true);
    add("model.safetensors", weights(), true);
  }
  static const std::string& weights() {
    static const std::string bytes = [] {
      std::string text;
      for (uint32_t i = 0; text.size() < 3000000; ++i) text += fmt::format("{} ", i * 2654435761u);
      return text;
    }();
    return bytes;
  }

  /// What goes wrong, as hub_server.py reads it.
  void set_faults(const nlohmann::json& faults) const {
    write_file_atomically(folder_ / "root/faults.json",
                          (faults.is_null() ? nlohmann::json::object() : faults).dump());
  }

  /// The requests so far, and those whose path ends with `end`.
  std::vector<nlohmann::json> requests(const std::string& end = "") const {
    std::vector<nlohmann::json> found;
    std::ifstream log(folder_ / "root/requests.log");
    for (std::string line; std::getline(log, line);) {
      nlohmann::json request = nlohmann::json::parse(line);
      if (request["path"].get<std::string>().ends_with(end)) found.push_back(std::move(request));
    }
    return found;
  }

  HubOptions options() const {
    HubOptions options;
    options.endpoint = endpoint();
    options.cache = cache();
    options.token = "";
    options.offline = false;
    using std::chrono::milliseconds;
    options.timeouts = {milliseconds(2000), milliseconds(300), 3, milliseconds(10),
                        milliseconds(2000)};
    return options;
  }
  std::filesystem::path resolve(const std::string& name = "acme/tiny") const {
    return resolve_model(name, options());
  }
  /// The error of a download, which leaves nothing that looks whole.
  std::string error(const std::string& name = "acme/tiny") const {
    return error_of([&] { resolve(name); });
  }

 private:
  TemporaryDirectory folder_;
  pid_t process_ = -1;
  int stdin_ = -1, port_ = 0, cdn_port_ = 0;
};

}  // namespace heed::hub
