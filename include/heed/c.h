#pragma once

/* The whole C API; docs/c.md explains it. */
#include "heed/c_base.h"
#include "heed/c_generate.h"
#include "heed/c_model.h"
#include "heed/c_read.h"
#include "heed/c_serve.h"
#include "heed/c_session.h"
#include "heed/c_text.h"
#include "heed/c_train.h"
