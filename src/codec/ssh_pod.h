#pragma once

#include <string_view>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// What a pod of a job that launches over ssh has beside its template: keys, files and scripts, where
// model/framework_files.h says. Each writes elements into an array that is open.

void writeSshVolumes(JsonWriter& out, const model::Job& job);
void writeSshMounts(JsonWriter& out);

// Of the launcher: ends when all workers can be reached. With image, resources, rights and variables of the
// launcher's first container: so it needs nothing that the pod did not need before.
void writeWaitContainer(JsonWriter& out, const JsonValue& launcher, const model::Environment& environment,
                        std::string_view filesName);

// A worker's first container that says nothing of what to run becomes an ssh server.
[[nodiscard]] bool servesSsh(const model::Role& role, const JsonValue& container);
void writeSshServerCommand(JsonWriter& out);

}  // namespace trainyard::codec
