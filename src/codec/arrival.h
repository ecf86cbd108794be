#pragma once

#include <optional>
#include <string>

#include "codec/field.h"
#include "model/pod.h"

namespace trainyard::codec {

// The role of a pod that names none.
inline constexpr std::string_view kDefaultGangRole = "worker";

// What a gated pod asks for: its Gang by label, which for bare pods is completed to "NAME.pods"; a pod that
// names a queue alone asks for the gang of its PodGroup, "GROUP.pods", or of its group of a LeaderWorkerSet,
// "SET-INDEX.group", or is one of its own, "POD.pod". Nothing for any other pod.
[[nodiscard]] std::optional<model::Arrival> readArrival(const Field& metadata, const Field& podSpec);

}  // namespace trainyard::codec
