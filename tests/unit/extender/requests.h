#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/job.h"
#include "net/server.h"

// Requests in the format of kube-scheduler.
namespace trainyard::extender::test {

// A foreign pod that requests GPUs.
inline std::string foreignPodJson(std::string_view name, int gpus) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"{0}","uid":"uid-{0}"}},"spec":{{"containers":)"
      R"([{{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"{1}"}}}}}}]}}}})",
      name, gpus);
}

inline std::string memberJson(const model::Job& job, std::string_view role, int index, int epoch, int gpus) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"{0}","name":"{1}-{3}-{4}","uid":"uid-{1}-{3}-{4}","labels":)"
      R"({{"trainyard.dev/job-name":"{1}","trainyard.dev/job-uid":"{2}","trainyard.dev/epoch":"{5}",)"
      R"("trainyard.dev/role":"{3}","trainyard.dev/index":"{4}"}},"ownerReferences":)"
      R"([{{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"{1}","uid":"{2}","controller":true}}]}},)"
      R"("spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"{6}"}}}}}}]}}}})",
      job.key.ns, job.key.name, job.uid, role, index, epoch, gpus);
}

inline std::string argsJson(std::string_view pod, const std::vector<std::string>& nodes) {
  std::vector<std::string> quoted;
  for (const std::string& node : nodes) quoted.push_back('"' + node + '"');
  return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[{}]}})", pod, fmt::join(quoted, ","));
}

inline net::ServerRequest post(std::string_view verb, std::string body) {
  net::ServerRequest request;
  request.method = net::Method::kPost;
  request.target = fmt::format("/v1/extender/{}", verb);
  request.body = std::move(body);
  return request;
}

}  // namespace trainyard::extender::test
