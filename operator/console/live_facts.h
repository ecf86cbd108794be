#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "operator/console/view.h"

namespace trainyard::operator_::console {

// The facts of the cluster, at most a second old when they are asked for, and the sections that viewers see
// of them. Computes nothing while no client asks.
class LiveFacts {
 public:
  using Sections = std::shared_ptr<const std::vector<Section>>;
  // Requests a snapshot of the cluster. The callback gets nullopt before the operator has read its first
  // lists.
  using Source = std::function<void(std::function<void(std::optional<model::Snapshot>)>)>;

  LiveFacts(base::Executor& executor, Source source) : executor_(executor), source_(std::move(source)) {}
  ~LiveFacts() { *alive_ = false; }
  LiveFacts(const LiveFacts&) = delete;
  LiveFacts& operator=(const LiveFacts&) = delete;

  // Calls `then`, now or later, when current() is new enough; with false if the cluster was never read.
  void refresh(std::function<void(bool known)> then);
  [[nodiscard]] const Facts& current() const { return facts_; }
  // The same object for all viewers with the same rights, until the facts change.
  [[nodiscard]] Sections sectionsFor(const Viewer& viewer);

 private:
  void take(std::optional<model::Snapshot> snapshot);

  base::Executor& executor_;
  Source source_;
  Facts facts_;
  bool known_ = false;
  bool asking_ = false;
  base::Instant takenAt_{};
  base::Instant countedAt_{};
  std::vector<std::function<void(bool)>> waiting_;
  std::vector<std::pair<Viewer, Sections>> described_;  // for the current facts_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
