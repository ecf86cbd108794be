#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/api_client.h"
#include "model/owner_kinds.h"
#include "model/workload.h"

namespace trainyard::operator_ {

// Reads a workload that another object lists the pods of: a TrainJob with its JobSet.
class WorkloadReader {
 public:
  using Answer = base::Result<model::Workload>;

  explicit WorkloadReader(kube::ApiClient& api) : api_(api) {}
  ~WorkloadReader() { *alive_ = false; }
  WorkloadReader(const WorkloadReader&) = delete;
  WorkloadReader& operator=(const WorkloadReader&) = delete;

  // Errors are those of the requests, and of decodeWorkloadOfJobSet(): kNotFound if the JobSet is to come.
  void read(const model::OwnerKind& kind, const model::ObjectKey& key,
            std::function<void(const Answer&)> done);

 private:
  kube::ApiClient& api_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
