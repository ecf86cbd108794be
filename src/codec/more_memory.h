#pragma once

#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// Where members ran out of a host's memory once, they are made with half as much again: what their containers
// and pods request of memory and are limited to, in the templates and in what they are counted as. Of every
// role: the record does not tell for ever which one it was. A job whose spec cannot be used is left alone.
void giveMoreMemory(model::Job& job);

}  // namespace trainyard::codec
