#pragma once

// Room network: whose burst goes out first on a link that several jobs share, and does an order pay?

#include "core/network/bands.h"
#include "core/network/shared_link.h"
