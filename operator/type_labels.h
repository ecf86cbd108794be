#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/time.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Snapshots keep the GPU type of a node for kKeep after the node lost its type label. The programs that set
// such labels remove them for a moment when they restart. Quotas by type would otherwise count nothing and
// admit twice as much. A recreated node, or a node with another type, counts as such at once.
class TypeLabels {
 public:
  static constexpr std::chrono::minutes kKeep{60};

  // `label` returns the policy's current name of the label; `now` returns the time.
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
