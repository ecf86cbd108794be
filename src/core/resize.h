#pragma once

// How large an elastic gang should be.
//
// How fast it trains with each number of members, and which sizes serve the cluster best.
//
// Public interface of core/resize: others include only this or the headers below (tests/layering.py).
#include "core/resize/resize_method.h"
#include "core/resize/size_decision.h"
#include "core/resize/size_problem.h"
#include "core/resize/size_search.h"
#include "core/resize/speed_curve.h"
#include "core/resize/speed_record.h"
#include "core/resize/surplus.h"
