#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/executor.h"
#include "base/log.h"
#include "kube/lease_client.h"

namespace trainyard::kube {

// Releases the Lease: reads its record, and empties it if it is still this process's own. A late renewal then
// fails on the changed resourceVersion. If this object is destroyed before, `done` is not called.
class LeaseRelease : public std::enable_shared_from_this<LeaseRelease> {
 public:
  LeaseRelease(LeaseClient leases, std::string identity, base::Executor& executor, base::Logger log)
      : leases_(std::move(leases)),
        identity_(std::move(identity)),
        executor_(executor),
        log_(std::move(log)) {}

  void begin(std::function<void()> done);

 private:
  void readRecord(int tries, std::function<void()> done);
  void emptyRecord(const codec::Lease& lease, int tries, std::function<void()> done);

  const LeaseClient leases_;
  const std::string identity_;
  base::Executor& executor_;
  base::Logger log_;
};

}  // namespace trainyard::kube
