#include "operator/installation_question.h"

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codec/lease.h"

namespace trainyard::operator_ {
namespace {

// A pod that does not exist, with no node offered: the extender holds nothing and returns an empty answer.
constexpr std::string_view kFilterBody =
    R"({"Pod":{"metadata":{"name":"installation-check","namespace":"default","uid":"installation-check"},)"
    R"("spec":{"containers":[{"name":"c","image":"c"}]}},"NodeNames":[]})";

// `renewed`: renewTime as it was read first. A renewed lease has another renewTime a few seconds later.
// Clocks are not compared.
std::string problemOf(const base::Result<kube::ApiResponse>& answer, std::string& renewed) {
  if (!answer) return answer.error().message;
  const auto lease = codec::decodeLease(answer->body);
  if (!lease) return lease.error().message;
  if (lease->record.holderIdentity.empty()) return "the Lease has no holder";
  const std::string& time = lease->record.renewTime;
  if (renewed.empty()) renewed = time;
  return time == renewed
             ? fmt::format("{} has not renewed the Lease since {}", lease->record.holderIdentity, time)
             : "";
}

}  // namespace

InstallationQuestion kindIsServed(std::string what, std::string path, kube::ApiClient& api) {
  return {std::move(what), [path = std::move(path), &api](auto judged) {
            kube::ApiRequest request{.path = path, .query = {{"limit", "1"}}};
            api.request(std::move(request), [judged](const base::Result<kube::ApiResponse>& answer) {
              judged(answer ? "" : answer.error().message);
            });
          }};
}

InstallationQuestion operatorLeads(std::string leasePath, kube::ApiClient& api) {
  return {"an operator leads",
          [path = std::move(leasePath), &api, renewed = std::make_shared<std::string>()](auto judged) {
            api.get(path, [renewed, judged](const base::Result<kube::ApiResponse>& answer) {
              judged(problemOf(answer, *renewed));
            });
          }};
}

InstallationQuestion extenderAnswers(net::HttpClient& extender) {
  return {
      "the extender answers kube-scheduler's certificate", [&extender](auto judged) {
        net::HttpRequest request{.method = net::Method::kPost,
                                 .target = "/v1/extender/filter",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = std::string(kFilterBody),
                                 .timeout = std::chrono::seconds(5)};
        extender.send(std::move(request), [judged](const base::Result<net::HttpResponse>& answer) {
          if (!answer) return judged(answer.error().message);
          judged(answer->status == 200 ? "" : fmt::format("it answers {}: {}", answer->status, answer->body));
        });
      }};
}

}  // namespace trainyard::operator_
