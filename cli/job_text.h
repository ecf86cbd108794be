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

// What people read about jobs. Pure: text from what the API shows, in the words that the operator wrote
// there.
namespace trainyard::cli {

using Nodes = model::SharedList<model::Node>;

// What is known of the job's nodes: those of nodesOf() that could be read, and the levels of the network,
// where the policy may be read.
struct Where {
  Nodes nodes = {};
  std::optional<std::vector<model::TopologyLevel>> topology = model::defaultTopologyLevels();

  Where() = default;
  Where(Nodes known)
      : nodes(std::move(known)) {}  // NOLINT(google-explicit-constructor): all there is, mostly
};

// The nodes that the job's record names, sorted.
[[nodiscard]] std::vector<model::NodeName> nodesOf(const model::Job& job);

// One line for each job, like `kubectl get tj`.
[[nodiscard]] std::string jobsTable(const std::vector<model::Job>& jobs, bool withNamespace,
                                    base::WallTime now);
// One JSON object: {"items":[…]}, each as jobJson() writes it.
[[nodiscard]] std::string jobsJson(const std::vector<model::Job>& jobs);

// Everything about one job.
[[nodiscard]] std::string jobDetails(const model::Job& job, const Where& where, base::WallTime now);
[[nodiscard]] std::string jobJson(const model::Job& job, const Where& where);

// Why the job waits, with numbers, or where it runs, or how it ended.
[[nodiscard]] std::string explainJob(const model::Job& job, const Where& where, base::WallTime now);

}  // namespace trainyard::cli
