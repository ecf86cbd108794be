#pragma once

// How large is a gang to be?
//
// How fast it trains with so many members, and which sizes serve the cluster best.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/resize/resize_way.h"
#include "core/resize/size_news.h"
#include "core/resize/size_problem.h"
#include "core/resize/size_search.h"
#include "core/resize/speed_curve.h"
#include "core/resize/speed_record.h"
#include "core/resize/surplus.h"
