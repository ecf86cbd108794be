#pragma once

#include <optional>
#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/constraints.h"
#include "model/ids.h"

namespace trainyard::codec {

// Each writes an affinity with the node added to every required term. The terms are alternatives: one
// unchanged term would allow another node.

// `affinity`: of a template; missing if it has none.
void writePinnedAffinity(const JsonValue& affinity, const model::NodeName& node, JsonWriter& out);
// Writes the required terms only. No terms: there is no other requirement.
void writePinnedAffinity(const std::optional<std::vector<model::NodeSelectorTerm>>& terms,
                         const model::NodeName& node, JsonWriter& out);

}  // namespace trainyard::codec
