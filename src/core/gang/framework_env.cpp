#include "core/gang/framework_env.h"

#include <utility>

#include <fmt/format.h>

#include "core/gang/frameworks.h"
#include "model/late_members.h"
#include "model/membership.h"
#include "model/process_group.h"

namespace trainyard::core {
namespace {

model::Environment frameworkEnvironment(const MemberPlace& place, std::string_view shared) {
  switch (place.job.spec.framework) {
    case model::Framework::kPyTorch: return pyTorchEnvironment(place);
    case model::Framework::kTensorFlow: return tensorFlowEnvironment(place, shared);
    case model::Framework::kJax: return jaxEnvironment(place);
    case model::Framework::kMxNet: return mxNetEnvironment(place);
    case model::Framework::kHorovod:
    case model::Framework::kMpi: return mpiEnvironment(place);
    case model::Framework::kCustom: break;
  }
  return {};
}

}  // namespace

MemberEnvironments::MemberEnvironments(const model::Job& job) : job_(job), groupSize_(model::groupSize(job)) {
  if (const auto ranked = model::rankedRoles(job.spec); !ranked.empty())
    coordinator_ = model::memberHost(job, ranked.front()->name, 0);
  if (model::traitsOf(job.spec.framework).readsTfConfig) shared_ = tensorFlowShared(job);
}

model::Environment MemberEnvironments::of(std::string_view roleName, int index, std::int64_t epoch) const {
  model::Environment env{{"TRAINYARD_JOB", job_.key.name},
                         {"TRAINYARD_NAMESPACE", job_.key.ns},
                         {"TRAINYARD_ROLE", std::string(roleName)},
                         {"TRAINYARD_INDEX", fmt::to_string(index)},
                         {"TRAINYARD_EPOCH", fmt::to_string(epoch)}};
  const model::Role* role = job_.spec.findRole(roleName);
  if (role == nullptr) return env;
  env.push_back({"TRAINYARD_REPLICAS", fmt::to_string(model::announcedMembers(job_, *role))});
  if (job_.spec.mayHavePeers())
    env.push_back({"TRAINYARD_DOMAIN", fmt::format("{}.{}.svc", job_.key.name, job_.key.ns)});
  if (const auto rank = model::memberRank(job_, roleName, index)) {
    env.push_back({"TRAINYARD_RANK", fmt::to_string(*rank)});
    env.push_back({"TRAINYARD_SIZE", fmt::to_string(groupSize_)});
  }
  // The membership file may have a newer size by the time it is read.
  const bool reads = model::readsMembership(job_.spec);
  if (const model::Role* elastic = reads ? job_.spec.findRole(job_.spec.elastic->role) : nullptr)
    env.push_back({"TRAINYARD_ELASTIC_SIZE", fmt::to_string(model::announcedMembers(job_, *elastic))});
  if (!coordinator_.empty()) env.push_back({"TRAINYARD_COORDINATOR", coordinator_});
  for (model::Variable& each :
       frameworkEnvironment({job_, *role, index, groupSize_, coordinator_}, shared_)) {
    env.push_back(std::move(each));
  }
  return env;
}

}  // namespace trainyard::core
