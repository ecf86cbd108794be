#pragma once

// What is used, and by whom?
//
// The free room of every node, whose members and pods hold the rest, the domains of the
// network, what a node refuses, and what would be free if.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/ledger/domains.h"
#include "core/ledger/fit.h"
#include "core/ledger/ledger.h"
#include "core/ledger/list_changes.h"
#include "core/ledger/members.h"
#include "core/ledger/pod_groups.h"
#include "core/ledger/volumes.h"
#include "core/ledger/what_if.h"
