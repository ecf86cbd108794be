#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "core/lifecycle/classify.h"
#include "core/lifecycle/follow_up.h"
#include "kube/api_client.h"
#include "model/ids.h"

namespace trainyard::operator_ {

// A member that may tell why its gang failed.
struct Witness {
  model::ObjectKey pod;
  std::string role;
  int index = 0;
  std::string container = {};  // whose log; empty: the pod's only one
  bool ended = false;          // of one that still runs the log counts little: it is asked last
};

// Does what takes long where nobody waits for it, and what that returns on the executor's loop.
using Offload = std::function<void(std::function<base::Task()>)>;

// Finds out what a gang failed of: reads its members' pods and the ends of their logs, and has them
// classified. Bounded in members, bytes and time: what has not answered by then is left out; where very many
// fail at once, some wait for others, so that the operator's writes find their way, and namespaces take
// turns. Lives on the executor's loop; but the logs are a tenant's, who may fill them with what takes a
// second to read and more: they are read beside it, one gang's after the other's, for so long at most, and
// the rest is left out.
class EvidenceCollector {
 public:
  using Done = std::function<void(core::Failure)>;

  // Without `offload` all is read on the loop, and to the end: for who has no other threads and no clock.
  EvidenceCollector(kube::ApiClient& api, base::Executor& executor, Offload offload = {});
  ~EvidenceCollector();
  EvidenceCollector(const EvidenceCollector&) = delete;
  EvidenceCollector& operator=(const EvidenceCollector&) = delete;

  // From the next collection on. What is kept when `rules` cannot be used: kInvalid names the rule.
  [[nodiscard]] base::Result<void> setRules(const std::vector<model::FailureRule>& rules);

  // `done` is called once, later. Where some have not ended it waits for a moment first: others that die of
  // the same cause are about to, and who was first is told by all of them together.
  void collect(std::vector<Witness> witnesses, Done done);

 private:
  struct Collection;
  using CollectionPtr = std::shared_ptr<Collection>;

  void beginNext();
  void begin(const CollectionPtr& collection);
  void askNext(const CollectionPtr& collection);
  void askPod(const CollectionPtr& collection, std::size_t witness);
  void askLog(const CollectionPtr& collection, std::size_t witness);
  void answered(const CollectionPtr& collection);
  void conclude(const CollectionPtr& collection);
  void classifyNext();
  void classified(const CollectionPtr& collection, const core::Failure& failure);

  kube::ApiClient& api_;
  base::Executor& executor_;
  Offload offload_;
  std::optional<core::FailureClassifier>
      own_;  // with rules of the policy file; absent: the built-in ones alone
  std::deque<CollectionPtr> waiting_;
  std::deque<CollectionPtr> answered_;  // and not yet classified
  bool classifying_ = false;
  std::size_t underWay_ = 0;
  std::map<std::string, std::size_t> underWayOf_;  // by namespace; none of 0
  std::map<std::string, std::uint64_t> lastTurn_;  // of who has some under way
  std::uint64_t turn_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
