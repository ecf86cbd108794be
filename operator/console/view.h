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

// What is counted once for all who look.
struct Facts {
  model::Snapshot snapshot;
  core::Ledger ledger;
  std::optional<core::Domains> domains;
  std::set<model::NodeName> suspected;
  Names namespaces;     // that there are
  Names jobNamespaces;  // that have TrainingJobs: whose readers are asked for

  void follow(model::Snapshot next);
};

// A part of the page's data, sent again when it is another one than before. `json` has no line breaks.
struct Section {
  std::string name;
  std::string json;
  friend bool operator==(const Section&, const Section&) = default;
};

inline constexpr std::size_t kNodesInSection = 64;
inline constexpr std::size_t kJobSections = 32;
inline constexpr std::size_t kMostJobs = 2'000;  // listed at once

// All that the viewer may see at a glance, always in the same order:
//  me        who looks and what he may read
//  totals    GPUs, fragments, jobs by phase
//  map       how many nodes; levels of the network, and which run of nodes each domain is
//  queues    null where he may not list them
//  jobs/N    N < kJobSections; each job stays in its section, whoever comes and goes
//  nodes/N   runs of kNodesInSection nodes with GPUs, in the order of their domains: name, GPUs, free ones,
//            state (1 not ready, 2 cordoned, 4 being deleted, 8 suspected), then who holds how many, in turn:
//            "namespace/name"; "?" somebody in a namespace that he does not see; "*" pods of no TrainingJob.
// A fragment is a free GPU of a node of which others are used: whoever wants whole nodes has no use for it.
[[nodiscard]] std::vector<Section> describe(const Facts& facts, const Viewer& viewer);

// Null where there is none, or not for him.
[[nodiscard]] const model::Job* findJob(const Facts& facts, const Viewer& viewer, std::string_view ns,
                                        std::string_view name);

}  // namespace trainyard::operator_::console
