#pragma once

// Which running gangs change their size.
//
// What users ask for, and what the cluster gives or takes while no job waits for the capacity.
//
// Public interface of core/elastic: others include only this or the headers below (tests/layering.py).
#include "core/elastic/resizes.h"
#include "core/elastic/user_scale.h"
