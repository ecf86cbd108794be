#include "operator/nodes/placeholder_pods.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "codec/nodes_request.h"
#include "kube/paths.h"

namespace trainyard::operator_ {

using base::ErrorCode;
using model::ProvisioningBy;

std::optional<FoundRequest> PlaceholderPods::find(const model::Job& job, int attempt) const {
  const std::string prefix = codec::placeholderPrefix(job);
  const model::ObjectKey first{job.key.ns, prefix};
  FoundRequest found{{}, ProvisioningBy::kPlaceholderPods};
  const auto pods = cache_.pods.all();
  const auto& items = pods.items();
  for (auto at = std::lower_bound(items.begin(), items.end(), first,
                                  [](const auto& pod, const auto& wanted) { return pod->key < wanted; });
       at != items.end() && (*at)->key.ns == job.key.ns && (*at)->key.name.starts_with(prefix); ++at) {
    if ((*at)->placeholderOf != job.uid) {
      ++found.foreignPods;
    } else if (!(*at)->terminating) {
      found.placeholders.push_back(*at);
    }
  }
  if (found.placeholders.empty()) return std::nullopt;
  found.request.key = {job.key.ns, "placeholder pods"};
  found.request.job = job.uid;
  found.request.created = found.placeholders.front()->created;
  found.request.attempt = attempt;
  return found;
}

ApiCalls PlaceholderPods::creation(const std::shared_ptr<const model::Job>& job, int attempt) {
  ApiCalls calls;
  const std::string mark = codec::encodeUnschedulable(executor_.wallNow());
  for (const model::Role& role : job->spec.roles) {
    for (int index = 0; index < codec::membersToAskFor(job->spec, role); ++index) {
      const model::ObjectKey key{job->key.ns, codec::placeholderName(*job, role, index)};
      const auto pod = cache_.pods.find(key);
      if (pod && pod->placeholderOf != job->uid) continue;  // a foreign pod has the name
      if (!pod) {
        // Encoded when its turn comes: all bodies of a large gang at once would take too much memory.
        calls.emplace_back([this, job, at = &role, index, attempt, key](kube::ApiCallback done) {
          const auto body = codec::encodePlaceholder(*job, *at, index, attempt);
          if (!body) return done(base::fail(body.error()));
          api_.create(kube::kPods.collection(key.ns), *body,
                      tolerating(ErrorCode::kAlreadyExists, cached(std::move(done))));
        });
      }
      if (pod && !pod->unschedulableMessage.empty()) continue;
      calls.emplace_back([this, job, key, mark](kube::ApiCallback done) {
        // By now the placeholder exists, or a foreign pod has its name, which must not be written.
        const auto made = cache_.pods.find(key);
        if (!made || made->placeholderOf != job->uid)
          return done(base::fail(ErrorCode::kConflict, fmt::format("pod {} is not known yet", key)));
        api_.patch(kube::PatchType::kStrategicMerge, kube::kPods.object(key.ns, key.name, "status"), mark,
                   cached(std::move(done)));
      });
    }
  }
  return calls;
}

// Puts the returned pod into the cache before the watch delivers it.
kube::ApiCallback PlaceholderPods::cached(kube::ApiCallback done) {
  return [this, alive = alive_, done = std::move(done)](base::Result<kube::ApiResponse> answer) {
    if (*alive && answer && !answer->body.empty())
      cache_.pods.applyWrite(answer->body, kube::WriteKind::kCreate);
    done(std::move(answer));
  };
}

ApiCalls PlaceholderPods::removal(const FoundRequest& found) {
  ApiCalls calls;
  for (const auto& pod : found.placeholders) {
    codec::DeleteOptions options{.uid = pod->uid.str()};
    options.gracePeriodSeconds = 0;
    calls.emplace_back(
        [this, path = kube::kPods.object(pod->key.ns, pod->key.name), options](kube::ApiCallback done) {
          api_.remove(path, options, tolerating(ErrorCode::kNotFound, std::move(done)));
        });
  }
  return calls;
}

void PlaceholderPods::forget(const FoundRequest& found) {
  for (const auto& pod : found.placeholders) cache_.pods.forget(pod->key, pod->uid.str());
}

bool isIncomplete(const model::Job& job, const FoundRequest& found) {
  if (found.by != ProvisioningBy::kPlaceholderPods) return false;
  std::size_t wanted = 0;
  for (const model::Role& role : job.spec.roles)
    wanted += static_cast<std::size_t>(codec::membersToAskFor(job.spec, role));
  return found.placeholders.size() + found.foreignPods < wanted ||
         std::any_of(
             found.placeholders.begin(), found.placeholders.end(),
             [](const auto& pod) { return pod->unschedulableMessage.empty(); });
}

}  // namespace trainyard::operator_
