#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/pod.h"
#include "sim/cluster/observer.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// What must hold for bound members, by the node constraints in the templates of their jobs:
// - the pod still has the constraint: no step from the template to the node has dropped it
// - its node satisfies the constraint, and no member of its gang shares it if they require separate nodes
// Implemented without the product's decoders, which keep only what the product needs of a pod.
class NodeConstraintLaws {
 public:
  using Violated = std::function<void(std::string)>;
  // The pod's body as the server has it; empty if it is gone.
  using ReadPod = std::function<std::string(const model::ObjectKey&)>;

  NodeConstraintLaws(const Scenario& scenario, sim::ClusterObserver& truth, ReadPod read, Violated violated);

 private:
  void podBound(const model::Pod& pod);
  void checkPod(const model::Pod& pod, NodeConstraint wish);
  void checkNode(const model::Pod& pod, NodeConstraint wish);
  void checkAlone(const model::Pod& pod);

  const Scenario& scenario_;
  sim::ClusterObserver& truth_;
  ReadPod read_;
  Violated violated_;
  std::map<std::string, NodeConstraint> wishes_;  // by the gang's name; only of jobs with a constraint
};

}  // namespace trainyard::simulation
