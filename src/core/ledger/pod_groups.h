#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/job.h"
#include "model/pod.h"
#include "model/snapshot.h"

namespace trainyard::core {

using JobPods = std::vector<std::shared_ptr<const model::Pod>>;

// Returns the pod that the victim names, in a list sorted by name, if it has the same uid: a later pod of
// that name is another pod. Null if it is gone.
[[nodiscard]] const model::Pod* findVictim(const model::SharedList<model::Pod>& pods,
                                           const model::Victim& victim);

// The pods of a snapshot by the TrainingJob in their controller reference, kept from snapshot to
// snapshot. To follow a snapshot costs a comparison of pointers for each pod, and real work only for
// changed ones.
//
// Assumes that snapshots share unchanged objects: the same pointer is the same value.
class PodGroups {
 public:
  using PodPtr = std::shared_ptr<const model::Pod>;
  struct Changes {
    std::vector<model::Uid> owners;          // owners with changed pods, each once
    std::vector<const model::Pod*> gone;     // pods without a job, before; valid until the next follow()
    std::vector<const model::Pod*> present;  // pods without a job, after
    std::vector<model::ObjectKey> arrivals;  // Gangs with changed arrivals
  };

  // Updates the groups to the list, sorted by name.
  const Changes& follow(const model::SharedList<model::Pod>& pods);

  // The changes that the last follow() found.
  [[nodiscard]] const Changes& changes() const { return changes_; }

  // All pods that name this uid, in any namespace; sorted by name.
  [[nodiscard]] const JobPods& naming(const model::Uid& uid) const;
  // The job's own pods. An owner is in the namespace of what it owns: a pod elsewhere has copied the uid and
  // has no owner.
  [[nodiscard]] const JobPods& of(const model::Job& job) const;
  // The pods that ask for a place in the Gang of this name, oldest first.
  [[nodiscard]] const JobPods& arrivals(const model::ObjectKey& gang) const;

 private:
  struct Group {
    JobPods pods;
    // By namespace, if there are several.
    std::map<std::string, JobPods, std::less<>> apart = {};
  };

  void leave(const PodPtr& pod);
  void enter(const PodPtr& pod);
  void leaveArrivals(const PodPtr& pod);
  void enterArrivals(const PodPtr& pod);
  void finishGroups();

  model::SharedList<model::Pod> pods_;
  model::SharedList<model::Pod> previous_;  // keeps alive what `gone` points to
  std::unordered_map<model::Uid, Group> groups_;
  std::map<model::ObjectKey, JobPods> arrivals_;
  Changes changes_;
};

}  // namespace trainyard::core
