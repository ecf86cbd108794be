#pragma once

#include <string_view>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// Functions for what a pod of a job that launches over ssh has in addition to its template: keys, files and
// scripts, at the paths of model/framework_files.h. Each writes elements into an array that is already open.

void writeSshVolumes(JsonWriter& out, const model::Job& job);
void writeSshMounts(JsonWriter& out);

// Writes the launcher's init container, which ends when all workers are reachable. It has the image,
// resources, security context and variables of the launcher's first container, so the pod needs nothing more.
void writeWaitContainer(JsonWriter& out, const JsonValue& launcher, const model::Environment& environment,
                        std::string_view filesName);

// Returns true if the container becomes an ssh server: a worker's first container without a command.
[[nodiscard]] bool servesSsh(const model::Role& role, const JsonValue& container);
void writeSshServerCommand(JsonWriter& out);

}  // namespace trainyard::codec
