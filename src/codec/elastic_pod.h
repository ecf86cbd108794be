#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// What a pod of a job has beside its template where its members read who belongs to it
// (model::readsMembership), or where trainyard-launch is process 1 of them (checkpoint.mode Launcher). Each
// writes elements into an array that is open.

// Whether process 1 of every member is trainyard-launch.
[[nodiscard]] bool usesLauncher(const model::JobSpec& spec);
// Whether a pod of the job has any of it.
[[nodiscard]] bool hasElasticParts(const model::JobSpec& spec);

// Where the program, the membership and the job's token are.
[[nodiscard]] model::Environment elasticEnvironment(const model::Job& job);
void writeElasticVolumes(JsonWriter& out, const model::Job& job);
void writeElasticMounts(JsonWriter& out, const model::Job& job);

// Copies the program from its image, with resources and rights of the role's first container: so it needs
// nothing that the pod did not need before.
void writeInstallContainer(JsonWriter& out, const JsonValue& first, std::string_view image);

// Why trainyard-launch cannot start what this container runs; empty where it can. What the image would run is
// known to nobody here, so the template has to say it.
[[nodiscard]] std::string launchComplaint(const JsonValue& first, std::string_view image);
// Members `command` of the container: the template's own, started by trainyard-launch.
void writeLaunchedCommand(JsonWriter& out, const JsonValue& container);

}  // namespace trainyard::codec
