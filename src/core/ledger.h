#pragma once

// What is used, and which gang or pod uses it.
//
// The free capacity of every node, the members and pods that use the rest, the topology domains, what a node
// refuses, and what would be free without given pods.
//
// Public interface of core/ledger: others include only this or the headers below (tests/layering.py).
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/ledger/list_changes.h"
#include "core/ledger/members.h"
#include "core/ledger/node_misfit.h"
#include "core/ledger/pod_groups.h"
#include "core/ledger/volumes.h"
#include "core/ledger/what_if.h"
