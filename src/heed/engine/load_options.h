#pragma once

#include "heed/base/declared_option.h"
#include "heed/load_options.h"

// The options of loading a model, each declared once, as those of generation
// (generate/generate_options.h). How a face writes their values differs too much to be told here:
// names of types on the command line, enumerators in C, dictionaries in Python.
namespace heed::engine {

// OPTION(field, what else a DeclaredOption has). Beside these LoadOptions has structs of their own
// and what only programs pass.
#define HEED_LOAD_OPTIONS(OPTION)                                                                 \
  OPTION(weights,                                                                                 \
         .help =                                                                                  \
             "Type of the weights: as stored in the file, or converted to this type while "       \
             "loading")                                                                           \
  OPTION(compute,                                                                                 \
         .help =                                                                                  \
             "Arithmetic of matrix products. int8 quantises activations to 8 bits; weights that " \
             "are not quantised become q8_0. auto: int8 if the weights are quantised, else f32")  \
  OPTION(cache, .help = "Type of the kv cache")                                                   \
  OPTION(random_weights,                                                                          \
         .help =                                                                                  \
             "Initialise the weights randomly from this seed instead of reading them; needs "     \
             "only config.json")                                                                  \
  OPTION(rope_context,                                                                            \
         .help =                                                                                  \
             "Longest text in tokens, of a model with scaled rotary positions. Without it: "      \
             "what linear scaling, llama3 and yarn are made for; where the frequencies depend "   \
             "on it (dynamic, longrope), the original context")                                   \
  OPTION(weight_cache,                                                                            \
         .help =                                                                                  \
             "Local directory where processes that load the same model share packed weights, "    \
             "in a file as large as these")

// The rows, by their names.

namespace load_option {

#define HEED_DECLARE(option, ...)                                                     \
  inline constexpr DeclaredOption<LoadOptions, decltype(LoadOptions::option)> option{ \
      .name = #option, .field = &LoadOptions::option, __VA_ARGS__};
HEED_LOAD_OPTIONS(HEED_DECLARE)
#undef HEED_DECLARE

}  // namespace load_option

/// Calls `visit` with each of them.
template <typename Visit>
void for_each_load_option(const Visit& visit) {
#define HEED_VISIT(option, ...) visit(load_option::option);
  HEED_LOAD_OPTIONS(HEED_VISIT)
#undef HEED_VISIT
}

}  // namespace heed::engine
