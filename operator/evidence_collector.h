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
#include "base/time.h"
#include "core/lifecycle/classify.h"
#include "core/lifecycle/follow_up.h"
#include "kube/api_client.h"
#include "model/ids.h"

namespace trainyard::operator_ {

// A member that may show why its gang failed.
struct Witness {
  model::ObjectKey pod;
  std::string role;
  int index = 0;
  std::string container = {};  // to read the log of; empty: the pod's only one
  bool ended = false;          // running members are read last: their logs count little
  // By the node's clock; absent: unknown. Of many ended members, those that ended first are read.
  std::optional<base::WallTime> endedAt = std::nullopt;
};

// Runs long work on another thread, and the task that it returns on the executor's loop.
using Offload = std::function<void(std::function<base::Task()>)>;

// Finds out why a gang failed: reads its members' pods and the ends of their logs, and classifies them.
// Bounded in members, bytes and time: what has not arrived by then is left out. If very many gangs fail at
// once, some wait for others, so that the operator's writes are not delayed, and namespaces take turns. Lives
// on the executor's loop. A tenant may fill its logs with text that takes seconds to classify. Logs are
// therefore classified on another thread, one gang after the other, for a limited time each; the rest is left
// out.
class EvidenceCollector {
 public:
  using Done = std::function<void(core::Failure)>;

  // Without `offload`, reads everything on the loop and to the end: for programs without threads or clock.
  EvidenceCollector(kube::ApiClient& api, base::Executor& executor, Offload offload = {});
  ~EvidenceCollector();
  EvidenceCollector(const EvidenceCollector&) = delete;
  EvidenceCollector& operator=(const EvidenceCollector&) = delete;

  // Applies from the next collection on. Unusable `rules` change nothing: kInvalid names the rule.
  [[nodiscard]] base::Result<void> setRules(const std::vector<model::FailureRule>& rules);

  // Calls `done` once, later. If some members still run, waits a moment first: others are about to fail of
  // the same cause, and only all of them show which failed first.
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
  std::deque<CollectionPtr> answered_;  // not classified yet
  bool classifying_ = false;
  std::size_t underWay_ = 0;
  std::map<std::string, std::size_t> underWayOf_;  // by namespace; no entry is 0
  std::map<std::string, std::uint64_t> lastTurn_;  // of namespaces with collections under way
  std::uint64_t turn_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
