#include "operator/nodes/provisioning_requests.h"

#include <chrono>
#include <string>

#include "codec/nodes_request.h"
#include "kube/paths.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

constexpr base::Instant::duration kRequestRetry = std::chrono::seconds(2);
constexpr base::Instant::duration kApiAge = std::chrono::seconds(30);

}  // namespace

ProvisioningRequests::ProvisioningRequests(Dependencies dependencies)
    : deps_(std::move(dependencies)), requests_(codec::decodeNodesRequest, deps_.log) {
  requests_.onChange([this](const auto&, const auto&) { deps_.changed(); });
}

bool ProvisioningRequests::ready(bool isUsed) {
  if (!isUsed) return !reflector_ || reflector_->synced();
  if (api_ == Api::kAbsent) return true;
  if (api_ == Api::kUnknown) lookForApi(Api::kV1);
  return reflector_ && reflector_->synced();
}

void ProvisioningRequests::lookForApi(Api version) {
  api_ = Api::kBeingLookedFor;
  const auto& asked = version == Api::kV1 ? kube::kProvisioningRequests : kube::kOlderProvisioningRequests;
  deps_.api.request({.path = asked.collection(), .query = {{"limit", "1"}}},
                    [this, version, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                      if (!*alive) return;
                      if (answer) return apiFound(version);
                      const bool absent = answer.error().code == ErrorCode::kNotFound;
                      if (absent && version == Api::kV1) return lookForApi(Api::kV1Beta1);
                      if (absent) return apiFound(Api::kAbsent);
                      deps_.log.warning("requests for nodes cannot be listed",
                                        {{"error", answer.error().message}});
                      deps_.executor.postAfter(kRequestRetry, [this, alive] {
                        if (!*alive) return;
                        api_ = Api::kUnknown;
                        deps_.changed();
                      });
                    });
}

void ProvisioningRequests::apiFound(Api version) {
  api_ = version;
  if (version == Api::kAbsent) {
    // An administrator may install the API, so later attempts look for it again.
    deps_.executor.postAfter(kApiAge, [this, alive = alive_] {
      if (*alive && api_ == Api::kAbsent) api_ = Api::kUnknown;
    });
    return deps_.changed();
  }
  kube::ReflectorOptions options{.type = type()};
  options.selectors = {{"labelSelector", std::string(model::names::kJobUidLabel)}};
  reflector_ = std::make_unique<kube::Reflector>(std::move(options), deps_.api, deps_.executor, deps_.rng(),
                                                 deps_.log, requests_);
  reflector_->start();
  deps_.changed();
}

const kube::ResourceType& ProvisioningRequests::type() const {
  return api_ == Api::kV1Beta1 ? kube::kOlderProvisioningRequests : kube::kProvisioningRequests;
}

// Users may create any number of requests with any job's uid, but only in their own namespace.
ProvisioningRequests::Newest ProvisioningRequests::newest() const {
  Newest all;
  for (const auto& request : requests_.all()) {
    auto& newest = all[{request->key.ns, request->job}];
    if (!newest || newest->attempt < request->attempt) newest = request;
  }
  return all;
}

base::Result<ApiCalls> ProvisioningRequests::creation(const std::shared_ptr<const model::Job>& job,
                                                      int attempt, const model::ProvisioningPolicy& policy) {
  ApiCalls calls;
  for (const model::Role& role : job->spec.roles) {
    if (codec::membersToAskFor(job->spec, role) == 0) continue;
    auto body = codec::encodeNodesTemplate(*job, role, attempt);
    if (!body) return base::fail(body.error());
    calls.emplace_back([this, job, body = std::move(*body)](kube::ApiCallback done) {
      deps_.api.create(kube::kPodTemplates.collection(job->key.ns), body,
                       tolerating(ErrorCode::kAlreadyExists, std::move(done)));
    });
  }
  const auto version = api_ == Api::kV1Beta1 ? codec::NodesApi::kV1Beta1 : codec::NodesApi::kV1;
  calls.emplace_back(
      [this, job, body = codec::encodeNodesRequest(*job, attempt, version, policy)](kube::ApiCallback done) {
        auto taken = [this, alive = alive_, done = std::move(done)](base::Result<kube::ApiResponse> answer) {
          if (*alive && answer) requests_.applyWrite(answer->body, kube::WriteKind::kCreate);
          done(std::move(answer));
        };
        deps_.api.create(type().collection(job->key.ns), body,
                         tolerating(ErrorCode::kAlreadyExists, std::move(taken)));
      });
  return calls;
}

ApiCalls ProvisioningRequests::removal(const model::Job& job, const FoundRequest& found) {
  ApiCalls calls;
  const auto remove = [&](std::string path, const codec::DeleteOptions& options) {
    calls.emplace_back([this, path = std::move(path), options](kube::ApiCallback done) {
      deps_.api.remove(path, options, tolerating(ErrorCode::kNotFound, std::move(done)));
    });
  };
  const model::NodesRequest& request = found.request;
  remove(type().object(request.key.ns, request.key.name), {.uid = request.uid.str()});
  for (const model::Role& role : job.spec.roles)
    remove(kube::kPodTemplates.object(job.key.ns, codec::nodesTemplateName(job, role, request.attempt)), {});
  return calls;
}

void ProvisioningRequests::forget(const FoundRequest& found) {
  requests_.forget(found.request.key, found.request.uid.str());
}

}  // namespace trainyard::operator_
