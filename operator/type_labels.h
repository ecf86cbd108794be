#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/time.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Nodes that have lost the label with their type of GPU keep that type in snapshots for kKeep: the programs
// that set such labels take them away for a moment when they restart. Quotas by type would count nothing
// meanwhile, and let in twice as much. A node that is made anew, or has another type, is believed at once.
class TypeLabels {
 public:
  static constexpr std::chrono::minutes kKeep{60};

  // `label`: the policy's name of the label, as it is at the moment; `now`: the time.
  TypeLabels(kube::ClusterCache& cache, std::function<std::string()> label,
             std::function<base::WallTime()> now);

  void overlay(model::Snapshot& snapshot);

 private:
  struct Lost {
    std::string label;
    std::string value;
    base::WallTime since{};
    std::shared_ptr<const model::Node> from = nullptr, to = nullptr;  // the same object for the same node
  };

  void follow(const std::shared_ptr<const model::Node>& before,
              const std::shared_ptr<const model::Node>& after);

  std::function<std::string()> label_;
  std::function<base::WallTime()> now_;
  std::map<model::NodeName, Lost> lost_;  // mostly empty
};

}  // namespace trainyard::operator_
