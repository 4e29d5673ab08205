#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// MPNet (Song et al. 2020): RoBERTa without segments, and with relative biases besides the learned
/// positions.
Family mpnet_family();

}  // namespace heed::model
