#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/shared_list.h"

// What people read about jobs. Pure: text from what the API shows, in the words that the operator wrote
// there.
namespace trainyard::cli {

using Nodes = model::SharedList<model::Node>;

// The nodes that the job's record names, sorted.
[[nodiscard]] std::vector<model::NodeName> nodesOf(const model::Job& job);

// One line for each job, like `kubectl get tj`.
[[nodiscard]] std::string jobsTable(const std::vector<model::Job>& jobs, bool withNamespace,
                                    base::WallTime now);
// One JSON object: {"items":[…]}, each as jobJson() writes it.
[[nodiscard]] std::string jobsJson(const std::vector<model::Job>& jobs);

// Everything about one job. `nodes` are those of nodesOf() that could be read: for racks.
[[nodiscard]] std::string jobDetails(const model::Job& job, const Nodes& nodes, base::WallTime now);
[[nodiscard]] std::string jobJson(const model::Job& job, const Nodes& nodes);

// Why the job waits, with numbers, or where it runs, or how it ended.
[[nodiscard]] std::string explainJob(const model::Job& job, const Nodes& nodes, base::WallTime now);

}  // namespace trainyard::cli
