#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/adapter.h"
#include "heed/export.h"

namespace heed {

/// The progress of a download, including what an interrupted download left.
struct DownloadProgress {
  std::string_view model;               // OWNER/NAME, valid during the call
  uint64_t bytes = 0, total_bytes = 0;  // that are there; of all files
  int files = 0, total_files = 0;       // complete ones; all
  /// Nothing arrives because another process is downloading the same file.
  bool waiting = false;
};

/// Timeouts and attempts of a download.
struct HubTimeouts {
  std::chrono::milliseconds connect{10'000};  // for a connection to be made
  /// A connection that brings less than 1 kB in this time has broken off.
  std::chrono::milliseconds stall{30'000};
  /// Attempts that bring less than 1 MB before the download fails.
  int attempts = 5;
  /// The pause after the first of them, which doubles each time.
  std::chrono::milliseconds first_pause{1'000};
  /// The longest pause that a server may ask for (Retry-After).
  std::chrono::milliseconds longest_pause{60'000};
};

/// Where models and adapters are looked up. What is not set comes from the environment variables
/// that Python's huggingface_hub reads, too.
struct HubOptions {
  /// The server. Default: HF_ENDPOINT, else https://huggingface.co.
  std::optional<std::string> endpoint = {};
  /// The directory of the cache. Default: HF_HUB_CACHE, else HF_HOME/hub, else
  /// XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.
  std::optional<std::filesystem::path> cache = {};
  /// The access token; empty: none. Sent to the endpoint only, never to another host that it
  /// redirects to. Default: HF_TOKEN, else the file HF_TOKEN_PATH or HF_HOME/token.
  std::optional<std::string> token = {};
  /// Use the cache alone. Default: HF_HUB_OFFLINE.
  std::optional<bool> offline = {};
  /// Without the weights, only the configuration and the tokenizer are downloaded. A GGUF file is
  /// always whole.
  bool weights = true;

  /// Called on the calling thread, about ten times a second, while something is downloaded. Must
  /// not throw.
  std::function<void(const DownloadProgress&)> on_progress = {};
  /// Asked about ten times a second; true ends the download with an Error. The next one continues.
  std::function<bool()> cancelled = {};
  HubTimeouts timeouts = {};  // how long to wait for it

  /// Whether both find the same files, however they wait for them.
  bool operator==(const HubOptions& other) const {
    return endpoint == other.endpoint && cache == other.cache && token == other.token &&
           offline == other.offline && weights == other.weights;
  }
};

/// The file or directory that `name` stands for. A path that exists stands for itself. Otherwise
/// OWNER/NAME[@REVISION][:FILE.gguf] is a model of the Hugging Face hub, REVISION a branch, a tag
/// or a commit ("main" if absent): the directory with its config.json, or the GGUF file with its
/// parts. OWNER/ may be absent from a name that the hub redirects to its owner's ("gpt2"), and from
/// one of sentence-transformers, which is tried next ("all-MiniLM-L6-v2"). It is taken from the
/// cache, without a request, or downloaded into it: the files that heed reads, in the layout of
/// Python's huggingface_hub, which finds them there. Any other name is returned as it is.
///
/// Files are checked (size and SHA-256 or Git's SHA-1) before they appear in the cache, at once and
/// whole; what an interrupted download left is continued. Any number of threads and processes may
/// resolve the same model at once. Throws Error, which says what was tried, when there is no such
/// model, when it cannot be downloaded, and when its weights are neither safetensors, nor
/// pytorch_model.bin, which is downloaded where there are no safetensors, nor GGUF.
HEED_EXPORT std::filesystem::path resolve_model(const std::filesystem::path& name,
                                                const HubOptions& options = {});

/// The names by which resolve_model() finds models in the cache without a request:
/// OWNER/NAME[@REVISION] of those whose weights are there, in the order of the alphabet, with
/// :FILE.gguf for each GGUF file. Asks nobody. Throws Error when a setting is wrong.
HEED_EXPORT std::vector<std::string> cached_models(const HubOptions& options = {});

/// The directory that `name` of a LoRA adapter stands for: OWNER/NAME[@REVISION] is looked up as by
/// resolve_model(), and only adapter_config.json and adapter_model.safetensors, or else
/// adapter_model.bin, are downloaded. Throws Error as resolve_model() does, and when the repository
/// is not an adapter.
HEED_EXPORT std::filesystem::path resolve_adapter(const std::filesystem::path& name,
                                                  const HubOptions& options = {});

/// The adapter with the directory that resolve_adapter() finds, and with a name.
HEED_EXPORT AdapterOptions find_adapter(const AdapterOptions& options, const HubOptions& hub = {});

}  // namespace heed
