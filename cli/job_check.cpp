#include "cli/job_check.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codec/job.h"
#include "codec/member_pod.h"
#include "codec/status.h"
#include "core/gang.h"
#include "kube/paths.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;
using SortedJson = nlohmann::json;

const kube::Query kDryRun{{"dryRun", "All"}, {"fieldValidation", "Strict"}};

std::string dumped(const SortedJson& object) {
  return object.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

// Returns the member's pod without what the admission policies reserve for the operator.
std::string asAUserMay(const std::string& member) {
  auto pod = SortedJson::parse(member, nullptr, false);
  if (!pod.is_object() || !pod.contains("metadata") || !pod.contains("spec")) return member;
  pod["metadata"].erase("ownerReferences");
  for (const char* kind : {"labels", "annotations"}) {
    const auto found = pod["metadata"].find(kind);
    if (found == pod["metadata"].end() || !found->is_object()) continue;
    for (auto each = found->begin(); each != found->end();) {
      const std::string& key = each.key();
      each = key.starts_with("trainyard.dev/") ? found->erase(each) : std::next(each);
    }
  }
  pod["spec"].erase("schedulingGates");
  return dumped(pod);
}

// The managed fields are half of the text of an answer.
std::string withoutManagedFields(const std::string& object) {
  auto json = SortedJson::parse(object, nullptr, false);
  if (!json.is_object() || !json.contains("metadata") || !json["metadata"].is_object()) return object;
  json["metadata"].erase("managedFields");
  return dumped(json);
}

tl::unexpected<base::Error> refuse(const Manifest& manifest, const std::string& why) {
  return base::fail(ErrorCode::kInvalid, fmt::format("{}: {}", manifest.whereOf(why), why));
}

class JobChecker {
 public:
  JobChecker(LiveCluster& cluster, const std::string& ns, std::vector<std::string>& notes)
      : cluster_(cluster), ns_(ns), notes_(notes) {}

  Result<void> add(const Manifest& manifest) {
    if (manifest.kind != model::names::kTrainingJobKind) {
      notes_.push_back(fmt::format("{}: {} {} is ignored: only TrainingJobs can be tried",
                                   manifest.whereOf(""), manifest.kind, manifest.name));
      return {};
    }
    if (!ns_.empty() && !manifest.ns.empty() && manifest.ns != ns_)
      return refuse(manifest,
                    fmt::format("metadata.namespace: is {}, but --namespace is {}", manifest.ns, ns_));
    const std::string& given = ns_.empty() ? cluster_.ns() : ns_;
    const std::string& ns = manifest.ns.empty() ? given : manifest.ns;
    const auto created = cluster_.post(kube::kTrainingJobs.collection(ns), manifest.json, kDryRun);
    if (!created) return refuseCreation(manifest, ns, created.error());
    auto job = codec::decodeJob(*created);
    if (!job) return refuse(manifest, job.error().message);
    const bool twice = std::any_of(jobs_.begin(), jobs_.end(),
                                   [&](const CheckedJob& other) { return other.job.key == job->key; });
    if (twice) return refuse(manifest, fmt::format("metadata.name: {} occurs twice", job->key));
    CheckedJob& checked = jobs_.emplace_back();
    checked.job = std::move(*job);
    checked.tried.job = withoutManagedFields(*created);
    if (checked.job.specError.empty()) checkTemplates(checked, manifest);
    return {};
  }

  std::vector<CheckedJob> take() { return std::move(jobs_); }

 private:
  Result<void> refuseCreation(const Manifest& manifest, const std::string& ns, const base::Error& error) {
    switch (error.code) {
      case ErrorCode::kAlreadyExists:
        return refuse(manifest, fmt::format("metadata.name: TrainingJob {}/{} exists already: see `trainyard "
                                            "explain {}/{}`, or try it under another name",
                                            ns, manifest.name, ns, manifest.name));
      case ErrorCode::kInvalid: return refuse(manifest, std::string(codec::serverMessage(error)));
      case ErrorCode::kForbidden:
        return refuse(manifest, fmt::format("{} (the API server checks the job as at its creation, without "
                                            "creating it)",
                                            codec::serverMessage(error)));
      case ErrorCode::kNotFound:
        if (error.reason == "NotFound" && error.message.find("namespaces") != std::string::npos &&
            error.message.find("could not find the requested resource") == std::string::npos)
          return refuse(manifest, std::string(codec::serverMessage(error)));
        return base::fail(
            error.code, fmt::format("this cluster has no TrainingJobs: are Trainyard's CRDs installed? ({})",
                                    cluster_.source()));
      default: return base::fail(error.code, fmt::format("{} ({})", error.message, cluster_.source()));
    }
  }

  // Sends the same request as the operator (operator/execute/).
  void checkTemplates(CheckedJob& checked, const Manifest& manifest) {
    for (const model::Role& role : checked.job.spec.roles) {
      const auto body =
          codec::encodeMemberPod(checked.job, role, 0,
                                 {.environment = core::MemberEnvironments(checked.job).of(role.name, 0, 0),
                                  .launcherImage = "trainyard-launch"});
      if (!body) {
        checked.tried.templateError =
            fmt::format("spec.roles[{}].template: {}", role.name, body.error().message);
        return;
      }
      const auto answer =
          cluster_.post(kube::kPods.collection(checked.job.key.ns), asAUserMay(*body), kDryRun);
      if (answer) {
        checked.tried.pods[role.name] = withoutManagedFields(*answer);
        continue;
      }
      const base::Error& error = answer.error();
      const std::string message =
          fmt::format("spec.roles[{}].template: {}", role.name, codec::serverMessage(error));
      const bool ownRights = message.find("cannot create resource") != std::string::npos ||
                             message.find("cannot set") != std::string::npos;
      if (error.code == ErrorCode::kInvalid || (error.code == ErrorCode::kForbidden && !ownRights)) {
        checked.tried.templateError = message;
        return;
      }
      if (error.code != ErrorCode::kAlreadyExists) {
        notes_.push_back(fmt::format("{}: the template could not be checked, and is used as written: {}",
                                     manifest.whereOf(message), message));
      }
    }
  }

  LiveCluster& cluster_;
  const std::string& ns_;
  std::vector<std::string>& notes_;
  std::vector<CheckedJob> jobs_;
};

}  // namespace

Result<std::vector<CheckedJob>> checkJobs(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                                          const std::string& ns, std::vector<std::string>& notes) {
  JobChecker checker(cluster, ns, notes);
  for (const Manifest& manifest : manifests) {
    if (auto added = checker.add(manifest); !added) return base::fail(added.error());
  }
  auto jobs = checker.take();
  if (jobs.empty())
    return base::fail(ErrorCode::kInvalid,
                      "the files hold no TrainingJob, and only TrainingJobs can be tried");
  return jobs;
}

}  // namespace trainyard::cli
