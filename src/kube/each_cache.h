#pragma once

#include "kube/cluster_cache.h"
#include "kube/paths.h"

namespace trainyard::kube {

// Calls `visit` with each cache of `cluster` and the type of its objects: the one list of what a cluster is
// made of. A decoder that has no line here does not compile (cluster_cache.cpp).
template <typename Cluster, typename Visit>
void forEachCache(Cluster&& cluster, const Visit& visit) {
  visit(kNodes, cluster.nodes);
  visit(kPods, cluster.pods);
  visit(kTrainingJobs, cluster.jobs.trainingJobs);
  visit(kGangs, cluster.jobs.gangs);
  visit(kQueues, cluster.queues);
  visit(kPriorityClasses, cluster.priorityClasses);
  visit(kNamespaces, cluster.namespaces);
}

}  // namespace trainyard::kube
