#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "kube/api_client.h"

namespace trainyard::operator_ {

// Whether the API server serves PodGroups of scheduling.k8s.io, and in which version, asked every ten
// minutes. kube-scheduler's preemption for PodGroups needs no guard of its own: for pods with GPUs it asks
// the extender's filter, without the victims that it considers, and the filter refuses.
class PodGroupsServed {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
  };

  explicit PodGroupsServed(const Dependencies& dependencies) : deps_(dependencies) {}
  ~PodGroupsServed() { *alive_ = false; }
  PodGroupsServed(const PodGroupsServed&) = delete;
  PodGroupsServed& operator=(const PodGroupsServed&) = delete;

  // Call when this replica starts to lead.
  void start();
  // As last answered; empty: not served, or not yet known.
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  void ask();
  void answered(const base::Result<kube::ApiResponse>& answer);

  Dependencies deps_;
  std::string version_;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
