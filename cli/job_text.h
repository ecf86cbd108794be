#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/shared_list.h"
#include "model/topology.h"

// Texts about jobs for people. Pure functions of the API's objects,
// with the messages that the operator wrote there.
namespace trainyard::cli {

using Nodes = model::SharedList<model::Node>;

// The facts about a job's nodes: those of nodesOf() that could be read, and the
// topology levels, if the user may read the policy.
struct Where {
  Nodes nodes = {};
  std::optional<std::vector<model::TopologyLevel>> topology = model::defaultTopologyLevels();

  Where() = default;
  Where(Nodes known)
      : nodes(std::move(known)) {}  // NOLINT(google-explicit-constructor): callers often have only nodes
};

// Returns the nodes in the job's record, sorted.
[[nodiscard]] std::vector<model::NodeName> nodesOf(const model::Job& job);

// One line for each job, like `kubectl get tj`.
[[nodiscard]] std::string jobsTable(const std::vector<model::Job>& jobs, bool withNamespace,
                                    base::WallTime now);
// One JSON object: {"items":[…]}, each as jobJson() writes it.
[[nodiscard]] std::string jobsJson(const std::vector<model::Job>& jobs);

// Everything about one job.
[[nodiscard]] std::string jobDetails(const model::Job& job, const Where& where, base::WallTime now);
[[nodiscard]] std::string jobJson(const model::Job& job, const Where& where);

// Returns why the job is pending, with numbers, or where it runs, or how it ended.
[[nodiscard]] std::string explainJob(const model::Job& job, const Where& where, base::WallTime now);

}  // namespace trainyard::cli
