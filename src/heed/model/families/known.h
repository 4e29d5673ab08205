#pragma once

#include "heed/model/families/family.h"

/// All families, most specific first. The last, heed's own, can express every configuration. Each
/// is a function of one of the files here.
#define HEED_FAMILIES(FAMILY) \
  FAMILY(marian_family)       \
  FAMILY(pegasus_family)      \
  FAMILY(llama_family)        \
  FAMILY(mistral_family)      \
  FAMILY(qwen2_family)        \
  FAMILY(qwen3_family)        \
  FAMILY(gpt2_family)         \
  FAMILY(gemma2_family)       \
  FAMILY(deepseek_v2_family)  \
  FAMILY(bart_family)         \
  FAMILY(t5_family)           \
  FAMILY(bert_family)         \
  FAMILY(distilbert_family)   \
  FAMILY(roberta_family)      \
  FAMILY(gemma_family)        \
  FAMILY(gemma3_family)       \
  FAMILY(granite_family)      \
  FAMILY(olmo2_family)        \
  FAMILY(smollm3_family)      \
  FAMILY(qwen3_moe_family)    \
  FAMILY(mixtral_family)      \
  FAMILY(phi3_family)         \
  FAMILY(gpt_neox_family)     \
  FAMILY(deepseek_v3_family)  \
  FAMILY(xlm_roberta_family)  \
  FAMILY(mpnet_family)        \
  FAMILY(modernbert_family)   \
  FAMILY(nomic_bert_family)   \
  FAMILY(electra_family)      \
  FAMILY(albert_family)       \
  FAMILY(eurobert_family)     \
  FAMILY(deberta_v2_family)   \
  FAMILY(gte_family)          \
  FAMILY(new_family)          \
  FAMILY(gpt_oss_family)      \
  FAMILY(mbart_family)        \
  FAMILY(m2m_100_family)      \
  FAMILY(mt5_family)          \
  FAMILY(heed_family)

namespace heed::model {

#define HEED_DECLARE_FAMILY(name) Family name();
HEED_FAMILIES(HEED_DECLARE_FAMILY)
#undef HEED_DECLARE_FAMILY

}  // namespace heed::model
