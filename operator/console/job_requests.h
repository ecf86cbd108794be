#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "kube/api_client.h"
#include "operator/console/answers.h"
#include "operator/console/callers.h"
#include "operator/console/live_facts.h"
#include "operator/console/tenant_queue.h"

namespace trainyard::operator_::console {

// Waiting job pages of one tenant, besides the one that reads Events. More are refused.
inline constexpr std::size_t kMaxPagesWaiting = 8;

// GET /api/job?namespace=&name=: the page of one job (job_page.h). Each tenant (tenantOf()) has one list of
// Events at a time.
class JobRequests {
 public:
  JobRequests(kube::ApiClient& api, LiveFacts& facts, Callers& callers)
      : api_(api), facts_(facts), callers_(callers) {}
  ~JobRequests() { *alive_ = false; }
  JobRequests(const JobRequests&) = delete;
  JobRequests& operator=(const JobRequests&) = delete;

  void answer(const ExchangePtr& exchange, const std::string& token, const Query& query);

 private:
  void listEvents(const std::string& ns, const std::string& name,
                  std::function<void(const std::string&)> then);

  kube::ApiClient& api_;
  LiveFacts& facts_;
  Callers& callers_;
  TenantQueue turns_{kMaxPagesWaiting};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
