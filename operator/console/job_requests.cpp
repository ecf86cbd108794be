#include "operator/console/job_requests.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "operator/console/job_page.h"

namespace trainyard::operator_::console {
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20;
constexpr const char* kNotSeen = "there is no such TrainingJob, or you may not read it";

}  // namespace

void JobRequests::answer(const ExchangePtr& exchange, const std::string& token, const Query& query) {
  const std::string ns = valueOf(query, "namespace");
  const std::string name = valueOf(query, "name");
  if (!plainName(ns) || !plainName(name)) return exchange->reply(refusal(404, kNotSeen));
  callers_.identify(exchange, token, {ns}, [this, exchange, ns, name](const Viewer& viewer) {
    if (findJob(facts_.current(), viewer, ns, name) == nullptr)
      return exchange->reply(refusal(404, kNotSeen));
    const std::string tenant = tenantOf(viewer.user);
    const auto begin = [this, exchange, ns, name, viewer, tenant] {
      if (exchange->clientGone()) return turns_.leave(tenant);
      listEvents(ns, name, [this, exchange, ns, name, viewer, tenant](const std::string& events) {
        const Facts& facts = facts_.current();
        const model::Job* job = findJob(facts, viewer, ns, name);
        if (job == nullptr) {
          exchange->reply(refusal(404, kNotSeen));
        } else {
          exchange->reply(makeAnswer(200, kJson, describeJobPage(facts, viewer, *job, events)));
        }
        turns_.leave(tenant);
      });
    };
    if (!turns_.take(tenant, begin))
      exchange->reply(refusal(429, "too many job pages are requested at once; try again in a moment"));
  });
}

// Passes an empty string if the Events cannot be read: conditions cover most of their content.
void JobRequests::listEvents(const std::string& ns, const std::string& name,
                             std::function<void(const std::string&)> then) {
  // Uses core/v1, which supports selection by involvedObject on every version of Kubernetes.
  kube::ApiRequest request{.method = net::Method::kGet,
                           .path = fmt::format("/api/v1/namespaces/{}/events", ns)};
  request.query = {
      {"fieldSelector", fmt::format("involvedObject.kind=TrainingJob,involvedObject.name={}", name)},
      {"limit", "200"}};
  request.timeout = std::chrono::seconds(5);
  request.maxAnswerBytes = kMaxEventBytes;
  api_.request(std::move(request),
               [then = std::move(then), alive = alive_](base::Result<kube::ApiResponse> events) {
                 if (*alive) then(events ? events->body : std::string());
               });
}

}  // namespace trainyard::operator_::console
