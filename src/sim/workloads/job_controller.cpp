#include "sim/workloads/job_controller.h"

#include <algorithm>
#include <utility>

#include "kube/paths.h"
#include "sim/api/json.h"

namespace trainyard::sim {
namespace {

constexpr kube::ResourceType kIndexedJobs{"batch", "v1", "jobs"};
// Changes of one moment are handled together.
constexpr base::Instant::duration kJobLook = std::chrono::milliseconds(5);
constexpr base::Instant::duration kJobRetry = std::chrono::seconds(1);
// Kubernetes begins with ten seconds.
constexpr base::Instant::duration kAfterFailure = std::chrono::seconds(1);

Json endCondition(std::string_view type, bool holds, base::WallTime now) {
  return {{"type", std::string(type)},
          {"status", holds ? "True" : "False"},
          {"reason", type == "Failed" ? "BackoffLimitExceeded" : std::string(type)},
          {"message", type == "Failed" ? "Job has reached the specified backoff limit" : ""},
          {"lastTransitionTime", base::formatTime(now)}};
}

}  // namespace

JobController::JobController(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      jobs_(decodeIndexedJob, deps_.log.named("job-controller-cache")),
      pods_(decodeOwnedPod, deps_.log.named("job-controller-cache")) {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type}, deps_.api, deps_.executor, deps_.rng.split(),
        deps_.log.named("job-controller-reflector"), sink));
  };
  add(kIndexedJobs, jobs_);
  add(kube::kPods, pods_);
  jobs_.onChange([this](const JobPtr& before, const JobPtr& after) {
    if (before && (!after || after->uid != before->uid)) progress_.erase(before->uid);
    if (after) lookLater(after->uid, kJobLook);
  });
  pods_.onChange([this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
}

void JobController::start() {
  for (const auto& reflector : reflectors_) reflector->start();
}

void JobController::podChanged(const PodPtr& before, const PodPtr& after) {
  const bool gone = before && (!after || after->uid != before->uid);
  if (gone && !before->finished()) countFailure(*before);
  if (gone) lookLater(before->owner, kJobLook);
  if (!after) return;
  if (after->phase == model::PodPhase::kSucceeded) {
    if (const auto at = progress_.find(after->owner); at != progress_.end())
      at->second.succeeded.insert(after->index);
  } else if (after->phase == model::PodPhase::kFailed || after->terminating) {
    countFailure(*after);
  }
  lookLater(after->owner, kJobLook);
}

// Counts each pod once; of a suspended Job, none.
void JobController::countFailure(const OwnedPod& pod) {
  const auto at = progress_.find(pod.owner);
  const JobPtr job = jobOf(pod.owner);
  if (at == progress_.end() || !job || !at->second.counted.insert(pod.uid).second) return;
  if (job->suspended) return;
  ++at->second.failed;
  at->second.createsFrom = deps_.executor.now() + kAfterFailure;
}

void JobController::lookLater(const model::Uid& uid, base::Instant::duration delay) {
  if (uid.empty() || !jobOf(uid)) return;
  if (std::exchange(progress_[uid].looks, true)) return;
  deps_.executor.postAfter(delay, [this, uid, alive = alive_] {
    if (!*alive) return;
    const auto at = progress_.find(uid);
    if (at == progress_.end()) return;
    at->second.looks = false;
    look(uid);
  });
}

void JobController::look(const model::Uid& uid) {
  const JobPtr job = jobOf(uid);
  if (!job || job->deleting) return;
  Progress& progress = progress_[uid];
  // Pods that were there before the Job was seen.
  for (const PodPtr& pod : pods_.all()) {
    if (pod->owner == uid && pod->phase == model::PodPhase::kSucceeded) progress.succeeded.insert(pod->index);
  }
  if (job->ended) return;
  runJob(*job, progress);
}

void JobController::runJob(const IndexedJob& job, Progress& progress) {
  if (job.suspended) {
    removePods(job, progress, 0);
    progress.startTime.reset();
    return writeStatus(job, progress, "");
  }
  if (!progress.startTime) progress.startTime = deps_.executor.wallNow();
  removePods(job, progress, job.completions);
  if (progress.failed > job.backoffLimit) {
    removePods(job, progress, 0);
    return writeStatus(job, progress, "Failed");
  }
  int done = 0;
  for (const int index : progress.succeeded) done += index < job.completions ? 1 : 0;
  if (done == job.completions) {
    removePods(job, progress, 0);
    return writeStatus(job, progress, "Complete");
  }
  createPods(job, progress);
  writeStatus(job, progress, "");
}

void JobController::createPods(const IndexedJob& job, Progress& progress) {
  const base::Instant now = deps_.executor.now();
  if (now < progress.createsFrom) return lookLater(job.uid, progress.createsFrom - now);
  std::map<int, bool> runs;  // by index: whether it runs
  for (const PodPtr& pod : activePods(job.uid)) runs[pod->index] = pod->phase == model::PodPhase::kRunning;
  bool before = true;  // the pod before it runs, or has ended
  for (int index = 0; index < job.completions; ++index) {
    if (progress.succeeded.contains(index)) continue;
    const auto has = runs.find(index);
    const int active = static_cast<int>(runs.size() + progress.creating.size());
    if (has == runs.end() && !progress.creating.contains(index) && active < job.parallelism &&
        (before || !job.inOrder))
      createPod(job, progress, index);
    before = has != runs.end() && has->second;
  }
}

void JobController::createPod(const IndexedJob& job, Progress& progress, int index) {
  progress.creating.insert(index);
  const PodOwner owner{"batch/v1", "Job", job.key, job.uid};
  deps_.api.create(kube::kPods.collection(job.key.ns), podOfTemplate(job.podTemplate, owner, index),
                   [this, uid = job.uid, index, alive = alive_](const base::Result<kube::ApiResponse>& made) {
                     if (!*alive) return;
                     if (made) pods_.applyWrite(made->body, kube::WriteKind::kCreate);
                     const auto at = progress_.find(uid);
                     if (at == progress_.end()) return;
                     at->second.creating.erase(index);
                     lookLater(uid, made ? kJobLook : kJobRetry);
                   });
}

// Deletes the pods with this index or a later one that still run. They count as nothing.
void JobController::removePods(const IndexedJob& job, Progress& progress, int fromIndex) {
  for (const PodPtr& pod : activePods(job.uid)) {
    if (pod->index < fromIndex) continue;
    if (!progress.counted.insert(pod->uid).second) continue;
    kube::DeleteOptions options;
    options.uid = pod->uid.str();
    deps_.api.remove(kube::kPods.object(pod->key.ns, pod->key.name), options,
                     [](const base::Result<kube::ApiResponse>&) {});
  }
}

void JobController::writeStatus(const IndexedJob& job, Progress& progress, std::string_view end) {
  const base::WallTime now = deps_.executor.wallNow();
  const auto count = [](auto number) { return static_cast<std::int64_t>(number); };
  Json conditions = Json::array({endCondition("Suspended", job.suspended, base::WallTime{})});
  if (!end.empty()) conditions.push_back(endCondition(end, true, now));
  Json status = {{"active", count(activePods(job.uid).size())},
                 {"succeeded", count(progress.succeeded.size())},
                 {"failed", progress.failed},
                 {"startTime", nullptr},
                 {"conditions", conditions}};
  if (progress.startTime) status["startTime"] = base::formatTime(*progress.startTime);
  const std::string text = dumpJson(status);
  if (text == progress.status) return;
  progress.status = text;
  // Kubernetes' controller ends no Job whose spec it has not seen: the version says which one it has seen.
  const std::string body = dumpJson(
      {{"metadata", {{"uid", job.uid.str()}, {"resourceVersion", job.resourceVersion}}}, {"status", status}});
  deps_.api.patch(kube::PatchType::kMerge, kIndexedJobs.object(job.key.ns, job.key.name, "status"), body,
                  [this, uid = job.uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                    if (!*alive || answer) return;
                    const auto at = progress_.find(uid);
                    if (at == progress_.end()) return;
                    at->second.status.clear();
                    lookLater(uid, kJobRetry);
                  });
}

JobController::JobPtr JobController::jobOf(const model::Uid& uid) const {
  for (const JobPtr& job : jobs_.all()) {
    if (job->uid == uid) return job;
  }
  return nullptr;
}

std::vector<JobController::PodPtr> JobController::activePods(const model::Uid& job) const {
  std::vector<PodPtr> active;
  for (const PodPtr& pod : pods_.all()) {
    if (pod->owner == job && pod->active()) active.push_back(pod);
  }
  return active;
}

}  // namespace trainyard::sim
