#pragma once

// Which nodes pending gangs need that do not exist.
//
// The requests to a cluster autoscaler.
//
// Public interface of core/autoscaling: others include only this or the headers below (tests/layering.py).
#include "core/autoscaling/nodes_wanted.h"
