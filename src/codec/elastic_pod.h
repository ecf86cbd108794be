#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// Functions for what a pod has in addition to its template, if its members read the membership
// (model::readsMembership) or if trainyard-launch is process 1 (checkpoint.mode Launcher). Each function
// writes elements into an array that is already open.

// Returns true if process 1 of every member is trainyard-launch.
[[nodiscard]] bool usesLauncher(const model::JobSpec& spec);
// Returns true if a pod of the job has any of these parts.
[[nodiscard]] bool hasElasticParts(const model::JobSpec& spec);

// The variables with the paths of the program, the membership and the job's token.
[[nodiscard]] model::Environment elasticEnvironment(const model::Job& job);
void writeElasticVolumes(JsonWriter& out, const model::Job& job);
void writeElasticMounts(JsonWriter& out, const model::Job& job);

// Writes the init container that copies the program from its image. It has the resources and the security
// context of the role's first container, so that the pod needs nothing that it did not need before.
void writeInstallContainer(JsonWriter& out, const JsonValue& first, std::string_view image);

// Returns why trainyard-launch cannot start this container's program; empty if it can. The image's entrypoint
// is not known here, so the template has to name the command.
[[nodiscard]] std::string launchComplaint(const JsonValue& first, std::string_view image);
// Writes the member `command`: trainyard-launch, which executes the template's command.
void writeLaunchedCommand(JsonWriter& out, const JsonValue& container);

}  // namespace trainyard::codec
