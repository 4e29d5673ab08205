#pragma once

#include <cstdint>

namespace heed::metrics {

/// The random numbers of numpy.random.default_rng(seed): PCG64 (O'Neill, 2014) with XSL-RR, seeded
/// through SeedSequence. Methods draw what the Generator's draw, bit for bit; numpy promises for
/// none of its versions that these stay, but they are those of numpy 1.17 to 2.4.
class NumpyGenerator {
 public:
  explicit NumpyGenerator(uint64_t seed);

  /// The next number of integers(0, count, size=n): uniform in [0, count). 0 < count <= 2^32. With
  /// a count of 1 nothing is drawn.
  uint32_t integer(uint64_t count);

  /// The numbers of one call integers(2, size=n, dtype=bool), which takes 32 of each word that it
  /// draws.
  class Bools {
   public:
    explicit Bools(NumpyGenerator& generator) : generator_(generator) {}
    bool next();

   private:
    NumpyGenerator& generator_;
    uint32_t word_ = 0;
    int left_ = 0;
  };

 private:
  __extension__ typedef unsigned __int128 Uint128;

  uint64_t next64();
  /// The two halves of a word in turn, the low one first.
  uint32_t next32();

  Uint128 state_ = 0, increment_ = 0;
  uint32_t high_half_ = 0;
  bool has_half_ = false;
};

}  // namespace heed::metrics
