#pragma once

// Which jobs are admitted.
//
// What neither the schema nor its CEL rules can express: queues, priority classes, templates.
//
// Public interface of core/admission: others include only this or the headers below (tests/layering.py).
#include "core/admission/admission.h"
