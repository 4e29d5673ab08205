#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"

namespace heed {

namespace detect {
class Identifier;
}

/// A language that a text may be in.
struct DetectedLanguage {
  std::string code;        // ISO 639-1, in two letters ("de")
  double probability = 0;  // 0 to 1

  bool operator==(const DetectedLanguage&) const = default;
};

/// How LanguageIdentifier::train() learns.
struct TrainLanguageOptions {
  int64_t examples = 6'000'000;  // parts of texts that are shown
  uint64_t seed = 1;             // of the random numbers
};

/// Tells the language of a text by its letters: n-grams of characters, hashed, and a linear
/// classifier over them. It is immutable; copies share it, and any number of threads may use it.
class HEED_EXPORT LanguageIdentifier {
 public:
  /// The one that is a part of heed.
  static const LanguageIdentifier& built_in();
  /// Reads what save() has written. Throws Error when it cannot be read or is no such file.
  static LanguageIdentifier load(const std::filesystem::path& path);
  /// Learns from text files, one of each language, with one text in a line; the name of a file
  /// without its ending is the code of its language ("de.txt"). The same files and options give the
  /// same identifier on machines of one kind. Calls `progress`, if it is given, now and then, with
  /// the examples seen and the mean loss of the latest ones. Throws Error when a file cannot be
  /// read, or with less than two languages. Takes about 40 seconds for a million examples.
  static LanguageIdentifier train(std::span<const std::filesystem::path> files,
                                  const TrainLanguageOptions& options = {},
                                  const std::function<void(int64_t, double)>& progress = nullptr);
  /// Throws Error with the reason of the system when the file cannot be written.
  void save(const std::filesystem::path& path) const;

  /// The codes of the languages that it knows, in alphabetical order.
  const std::vector<std::string>& languages() const;

  /// The languages that a text may be in, most probable first; the probabilities add up to 1. Of a
  /// text of any bytes the first 2,000 letters are read. `among`, if it is not empty, restricts the
  /// answer to some languages. Empty when there is nothing to tell the language by: no letters, or
  /// most of them from scripts that it does not know. Throws InputError, which lists the languages
  /// it knows, when one of `among` is not one of them.
  std::vector<DetectedLanguage> detect(std::string_view text,
                                       std::span<const std::string> among = {}) const;

 private:
  explicit LanguageIdentifier(std::shared_ptr<const detect::Identifier> identifier)
      : identifier_(std::move(identifier)) {}
  std::shared_ptr<const detect::Identifier> identifier_;
};

/// LanguageIdentifier::detect() of the built-in identifier.
HEED_EXPORT std::vector<DetectedLanguage> detect_language(std::string_view text,
                                                          std::span<const std::string> among = {});

}  // namespace heed
