#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/job.h"
#include "model/node.h"
#include "model/volume.h"

namespace trainyard::core {

// Returns the job with the constraints of its volumes added to its roles' shapes, and the reason why it has
// to wait, as kube-scheduler and the kubelets will decide. A job without volumes is returned unchanged.
//
//   claim      bound             where its volume is reachable
//              bound with its pod where its storage class provisions volumes, where a volume that an
//                                administrator made is available, or the node with a volume in the making
//              otherwise         no pod can run
//   ephemeral  like an unbound claim; on local disks each node takes one pod per available volume
//   ReadWriteOncePod             one pod in the cluster: no pod can run if several name it or another uses it
//   ReadWriteOnce, attached      the node on which another pod uses it; else all members on one node
//                                (`nodeLevel`, the topology's tightest level)
//   CSI drivers                  no node that has as many volumes of the driver as it can take
[[nodiscard]] std::shared_ptr<const model::Job> withVolumes(const std::shared_ptr<const model::Job>& job,
                                                            const model::Volumes& volumes,
                                                            std::string_view nodeLevel);

// The additional local volumes of each node, beyond the first, for the volumes in the job's templates. They
// are counted on nodes by resource name.
using LocalVolumes = std::map<model::NodeName, model::Resources>;
[[nodiscard]] LocalVolumes moreLocalVolumes(const model::Job& job, const model::Volumes& volumes,
                                            const model::SharedList<model::Node>& nodes);

}  // namespace trainyard::core
