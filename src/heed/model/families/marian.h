#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// The paper's encoder-decoder as Marian writes it (Junczys-Dowmunt et al. 2018) and Python's
/// MarianMTModel reads it: post-norm, sinusoids in halves, and one embedding shared
/// three ways, or one for each language.
Family marian_family();

/// The same with the normalisation before each sub-layer, as PegasusForConditionalGeneration reads
/// it.
Family pegasus_family();

}  // namespace heed::model
