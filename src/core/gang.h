#pragma once

// How does it happen without harm?
//
// The gang record and its steps, the barrier, resizes, lost members, removal; how a gang has ended.
//
// The face of the room: others include these headers, or this one, and none besides (tests/layering.py).
#include "core/gang/action.h"
#include "core/gang/framework_env.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/gang/gang_resize.h"
#include "core/gang/lost_members.h"
#include "core/gang/orphans.h"
#include "core/gang/outcome.h"
#include "core/gang/settings.h"
#include "core/gang/victims_place.h"
