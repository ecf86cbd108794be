#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/job.h"
#include "model/node.h"
#include "model/volume.h"

namespace trainyard::core {

// The job with what its volumes ask of nodes in the shapes of its roles, and what keeps it waiting, as
// kube-scheduler and the kubelets will decide. The job itself where its templates have no such volumes.
//
//   claim      bound             where its volume can be reached
//              to be bound when its pod has a node: where its storage class makes volumes, where a volume of
//                                people's own is available, or the node for which a volume is being made
//              otherwise         no pod can run
//   ephemeral  like an unbound claim; of local disks as many pods a node as it has available ones
//   ReadWriteOncePod             one pod in the cluster: no pod can run if several name it, or another uses
//   it ReadWriteOnce, attached      the node on which another pod uses it; else all members on one node
//                                (`nodeLevel`, the topology's tightest level)
//   CSI drivers                  not on nodes that have as many volumes of the driver as they take
[[nodiscard]] std::shared_ptr<const model::Job> withVolumes(const std::shared_ptr<const model::Job>& job,
                                                            const model::Volumes& volumes,
                                                            std::string_view nodeLevel);

// Local volumes that the jobs' templates ask for, as they are counted on nodes: by name of the resource, how
// many each node has beyond the first.
using LocalVolumes = std::map<model::NodeName, model::Resources>;
[[nodiscard]] LocalVolumes moreLocalVolumes(const model::Job& job, const model::Volumes& volumes,
                                            const model::SharedList<model::Node>& nodes);

}  // namespace trainyard::core
