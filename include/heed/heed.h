#pragma once

// The whole library.
#include "heed/adapter.h"
#include "heed/attention.h"
#include "heed/compute.h"
#include "heed/embedding.h"
#include "heed/error.h"
#include "heed/executor.h"
#include "heed/export.h"
#include "heed/fill.h"
#include "heed/generation.h"
#include "heed/hub.h"
#include "heed/load_options.h"
#include "heed/model.h"
#include "heed/score.h"
#include "heed/search.h"
#include "heed/session.h"
#include "heed/translation.h"
