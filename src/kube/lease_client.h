#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "codec/lease.h"
#include "kube/api_client.h"

namespace trainyard::kube {

// Reads and writes one Lease.
class LeaseClient {
 public:
  LeaseClient(std::string ns, std::string name, ApiClient& api);

  void read(std::chrono::milliseconds timeout, std::function<void(base::Result<codec::Lease>)> done) const;
  // Writes the record into the Lease as last read; null: creates the Lease. leaseOf() decodes the answer.
  void write(const codec::Lease* lease, const codec::LeaseRecord& record, std::chrono::milliseconds timeout,
             ApiCallback done) const;

 private:
  std::string ns_;
  std::string name_;
  std::string path_;
  ApiClient& api_;
};

[[nodiscard]] base::Result<codec::Lease> leaseOf(base::Result<ApiResponse> answer);

}  // namespace trainyard::kube
