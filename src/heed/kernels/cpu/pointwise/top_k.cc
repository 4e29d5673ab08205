#include "heed/kernels/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/top_k.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Element {
  float value;
  int32_t index;
};

/// Whether a is before b in the result. The heap of the best has the last of them on top.
struct Before {
  bool operator()(const Element& a, const Element& b) const {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
  }
};

/// The best elements so far of a row whose elements come in order.
class Best {
 public:
  explicit Best(int64_t k) : k_(static_cast<size_t>(k)) {}

  void clear() { heap_.clear(); }
  /// An element must be above it; an equal one comes after those that are there.
  float bound() const { return heap_.front().value; }
  bool full() const { return heap_.size() == k_; }

  void add(Element element) {
    if (full()) {
      if (!(element.value > bound())) return;
      std::pop_heap(heap_.begin(), heap_.end(), Before());
      heap_.back() = element;
    } else {
      heap_.push_back(element);
    }
    std::push_heap(heap_.begin(), heap_.end(), Before());
  }

  const std::vector<Element>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), Before());
    return heap_;
  }

 private:
  size_t k_;
  std::vector<Element> heap_;
};

/// Whether one of x[0, count) is above the bound or NaN.
bool any_above(const float* x, int64_t count, float bound) {
  const F32 d;
  const V32 most = set(bound);
  V32 found = set(0.0f);
  for_lanes(0, count, [&](auto at) HEED_LANES {
    const V32 value = where_present(at, load(x, at), most);
    found = hn::Or(found, hn::VecFromMask(d, hn::Not(hn::Le(value, most))));
  });
  return !hn::AllFalse(d, hn::MaskFromVec(found));
}

/// Returns whether all elements are numbers.
bool find_best(const float* x, int64_t cols, Best& best) {
  constexpr int64_t kBlock = 64;
  best.clear();
  for (int64_t begin = 0; begin < cols; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, cols);
    // Nearly all blocks have no element that matters.
    if (best.full() && !any_above(x + begin, end - begin, best.bound())) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (std::isnan(x[i])) return false;
      best.add({x[i], static_cast<int32_t>(i)});
    }
  }
  return true;
}

}  // namespace

void top_k(const Tensor& x, int64_t k, Tensor& values, Tensor& indices) {
  const int64_t cols = x.cols();
  const float* from = x.data<float>();
  float* found = values.data<float>();
  int32_t* places = indices.data<int32_t>();
  parallel_for(x.rows(), grain_rows(kLightGrain, cols), [=](int64_t begin, int64_t end) {
    Best best(k);
    for (int64_t n = begin; n < end; ++n) {
      const bool numbers = find_best(from + n * cols, cols, best);
      std::fill_n(found + n * k, k,
                  numbers ? -std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN());
      std::fill_n(places + n * k, k, -1);
      if (!numbers) continue;
      int64_t i = n * k;
      for (const Element& element : best.sorted()) {
        found[i] = element.value;
        places[i++] = element.index;
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(top_k);
void cpu::top_k(const Tensor& x, int64_t k, Tensor& values, Tensor& indices) {
  HWY_DYNAMIC_DISPATCH(top_k)(x, k, values, indices);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
