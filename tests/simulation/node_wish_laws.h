#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/pod.h"
#include "sim/cluster/observer.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// What must hold of members that are bound, by what their jobs' templates ask of nodes:
//  - the pod still asks for it: nothing on its way from the template to the node has left it out
//  - its node is one of those asked for, and nobody of its gang beside it where they asked to be apart
// Written down without the product's help: its decoders keep of a pod only what they need.
class NodeWishLaws {
 public:
  using Violated = std::function<void(std::string)>;
  // The pod's body as the server has it; empty when it is gone.
  using ReadPod = std::function<std::string(const model::ObjectKey&)>;

  NodeWishLaws(const Scenario& scenario, sim::ClusterObserver& truth, ReadPod read, Violated violated);

 private:
  void podBound(const model::Pod& pod);
  void checkPod(const model::Pod& pod, NodeWish wish);
  void checkNode(const model::Pod& pod, NodeWish wish);
  void checkAlone(const model::Pod& pod);

  const Scenario& scenario_;
  sim::ClusterObserver& truth_;
  ReadPod read_;
  Violated violated_;
  std::map<std::string, NodeWish> wishes_;  // by the job's name; only of jobs that have one
};

}  // namespace trainyard::simulation
