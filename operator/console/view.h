#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger.h"
#include "model/snapshot.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

// Facts that are computed once for all viewers.
struct Facts {
  model::Snapshot snapshot;
  core::Ledger ledger;
  std::optional<core::Domains> domains;
  std::set<model::NodeName> suspected;
  Names namespaces;     // all that exist
  Names jobNamespaces;  // with TrainingJobs; access to them is reviewed

  void follow(model::Snapshot next);
};

// A part of the page's data, sent again when it changes. `json` has no line breaks.
struct Section {
  std::string name;
  std::string json;
  friend bool operator==(const Section&, const Section&) = default;
};

inline constexpr std::size_t kNodesInSection = 64;
inline constexpr std::size_t kJobSections = 32;
inline constexpr std::size_t kMaxJobs = 2'000;  // listed at once

// Returns all that the viewer may see at a glance, always in the same order:
//  me        the user and their rights
//  totals    GPUs, fragments, jobs by phase
//  map       number of nodes; network levels, and the run of nodes of each domain
//  queues    null if the viewer may not list them
//  jobs/N    N < kJobSections; a job stays in its section while other jobs come and go
//  nodes/N   runs of kNodesInSection nodes with GPUs, in the order of their domains: name, GPUs, free GPUs,
//            state (1 not ready, 2 cordoned, 4 being deleted, 8 suspected), then each holder and its GPUs:
//            "namespace/name"; "?" a job or pod of a hidden namespace; "*" pods of no TrainingJob.
// A fragment is a free GPU of a partly used node, which a job that needs whole nodes cannot use.
[[nodiscard]] std::vector<Section> describe(const Facts& facts, const Viewer& viewer);

// Null if the job does not exist or the viewer may not see it.
[[nodiscard]] const model::Job* findJob(const Facts& facts, const Viewer& viewer, std::string_view ns,
                                        std::string_view name);

}  // namespace trainyard::operator_::console
