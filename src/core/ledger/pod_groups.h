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

// The pod that the victim names, in a list sorted by name, while it is still that pod: one that came back
// under its old name is somebody else's. Null when it is gone.
[[nodiscard]] const model::Pod* findVictim(const model::SharedList<model::Pod>& pods,
                                           const model::Victim& victim);

// The pods of a snapshot by the TrainingJob that their controller reference names, kept from snapshot to
// snapshot: the cost of following one is a comparison of pointers for each pod, and real work for those that
// changed.
//
// Assumes that snapshots share what did not change: the same pointer is the same value.
class PodGroups {
 public:
  using PodPtr = std::shared_ptr<const model::Pod>;
  struct Changes {
    std::vector<model::Uid> owners;          // whose pods changed, each once
    std::vector<const model::Pod*> gone;     // of nobody's, as they were; valid until the next follow()
    std::vector<const model::Pod*> present;  // of nobody's, as they are
  };

  // Brings it up to the list, sorted by name.
  const Changes& follow(const model::SharedList<model::Pod>& pods);

  // What the last follow() found.
  [[nodiscard]] const Changes& changes() const { return changes_; }

  // Everything that names this uid, in whatever namespace; sorted by name.
  [[nodiscard]] const JobPods& naming(const model::Uid& uid) const;
  // The job's own: an owner lives in the namespace of what it owns, so a pod elsewhere that names its uid has
  // copied it, and is nobody's.
  [[nodiscard]] const JobPods& of(const model::Job& job) const;

 private:
  struct Group {
    JobPods pods;
    // By namespace, where there are several.
    std::map<std::string, JobPods, std::less<>> apart = {};
  };

  void leave(const PodPtr& pod);
  void enter(const PodPtr& pod);
  void finishGroups();

  model::SharedList<model::Pod> pods_;
  model::SharedList<model::Pod> previous_;  // keeps alive what `gone` points to
  std::unordered_map<model::Uid, Group> groups_;
  Changes changes_;
};

}  // namespace trainyard::core
