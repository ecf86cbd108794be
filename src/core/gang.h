#pragma once

// How a gang starts, changes and ends without harm.
//
// The gang record and its steps, the barrier, resizes, lost members, removal; how a gang has ended.
//
// Public interface of core/gang: others include only this or the headers below (tests/layering.py).
#include "core/gang/action.h"
#include "core/gang/framework_env.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/gang/gang_resize.h"
#include "core/gang/lost_members.h"
#include "core/gang/orphans.h"
#include "core/gang/outcome.h"
#include "core/gang/owned_size.h"
#include "core/gang/owned_steps.h"
#include "core/gang/settings.h"
#include "core/gang/victim_assignment.h"
