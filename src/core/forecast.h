#pragma once

// What will happen.
//
// When pending jobs are expected to start, and what a job that is not submitted yet would get.
//
// Public interface of core/forecast: others include only this or the headers below (tests/layering.py).
#include "core/forecast/forecast.h"
#include "core/forecast/instant_cycle.h"
