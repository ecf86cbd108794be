#pragma once

// core/network: which job's burst goes first on a shared link, and whether such an order improves anything.

#include "core/network/bands.h"
#include "core/network/shared_link.h"
