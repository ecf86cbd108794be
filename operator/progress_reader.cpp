#include "operator/progress_reader.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "codec/json_value.h"
#include "codec/progress_report.h"
#include "kube/paths.h"
#include "model/conditions.h"

namespace trainyard::operator_ {
namespace {

using std::chrono::seconds;

constexpr base::Instant::duration kBetweenRequests = std::chrono::milliseconds(100);
constexpr std::size_t kRequestsAtOnce = 4;
constexpr std::chrono::milliseconds kRequestTimeout{5'000};
constexpr std::size_t kMaxCandidates = 8;
constexpr base::Instant::duration kProgressPeriod = seconds(15);
constexpr base::Instant::duration kFirstQuietLook = seconds(30);
constexpr base::Instant::duration kLastQuietLook = std::chrono::minutes(10);
constexpr base::Instant::duration kSweep = seconds(1);
constexpr base::Instant::duration kBetweenOffers = seconds(30);
// The kubelet counts bytes from the first of these lines on. If the lines are so long that the last ones are
// cut off, fewer lines are requested.
constexpr int kMaxTailLines = 200;
constexpr std::size_t kLimitBytes = std::size_t{256} << 10;

// The pods of a Gang are named by their controllers, and report to users in their own ways.
bool runs(const model::Job& job) {
  return job.owner == nullptr && job.status.gang.placed && !job.deleting && !job.spec.run.suspend &&
         !job.finished() && job.conditionTrue(model::conditions::kRunning);
}

// Returns the role with the first member that is likeliest to report.
const model::Role* leadingRole(const model::JobSpec& spec) {
  for (const std::string_view name : {"launcher", "chief", "master", "worker"}) {
    if (const model::Role* role = spec.findRole(name)) return role;
  }
  return spec.roles.empty() ? nullptr : &spec.roles.front();
}

// Admission may inject containers: the API server refuses a log request that does not name one of several.
std::string firstContainer(const model::Role& role) {
  const auto document = codec::JsonDocument::parse(role.templateJson);
  std::string name;
  if (!document) return name;
  document->root().find("spec").find("containers").forEachElement([&](const codec::JsonValue& each) {
    if (name.empty()) name = std::string(each.find("name").string().value_or(""));
  });
  return name;
}

struct Place {
  const model::Role* role = nullptr;
  int index = 0;
};

// Returns the first member of the leading role, then members spread evenly over the gang.
std::vector<Place> membersToRead(const model::Job& job) {
  std::vector<Place> all;
  for (const model::Assignment& assignment : job.status.gang.placed->assignments) {
    const model::Role* role = job.spec.findRole(assignment.role);
    if (role == nullptr) continue;
    for (const int index : assignment.indices.values()) all.push_back({role, index});
  }
  const model::Role* leads = leadingRole(job.spec);
  std::sort(all.begin(), all.end(), [&](const Place& a, const Place& b) {
    if ((a.role == leads) != (b.role == leads)) return a.role == leads;
    return a.role != b.role ? a.role->name < b.role->name : a.index < b.index;
  });
  if (all.size() <= kMaxCandidates) return all;
  std::vector<Place> some;
  for (std::size_t i = 0; i < kMaxCandidates; ++i)
    some.push_back(all[i * (all.size() - 1) / (kMaxCandidates - 1)]);
  return some;
}

base::WallTime runningSince(const model::Job& job) {
  return job.condition(model::conditions::kRunning)->lastTransition;
}

}  // namespace

ProgressReader::ProgressReader(Dependencies dependencies) : deps_(std::move(dependencies)) {
  deps_.cache.jobs.onChange([this](const auto& before, const auto& after) { jobChanged(before, after); });
}

ProgressReader::~ProgressReader() {
  *alive_ = false;
  deps_.executor.cancel(timer_);
}

void ProgressReader::start() {
  started_ = true;
  arm();
}

void ProgressReader::jobChanged(const std::shared_ptr<const model::Job>& before,
                                const std::shared_ptr<const model::Job>& after) {
  const model::ObjectKey& key = after ? after->key : before->key;
  const auto at = jobs_.find(key);
  const bool watched = after && runs(*after);
  if (at != jobs_.end()) {
    // A member that has ended does not make it another gang.
    const bool same = watched && at->second.uid == after->uid &&
                      at->second.placed.epoch == after->status.gang.placed->epoch &&
                      at->second.placed.assignments == after->status.gang.placed->assignments;
    if (same) return;
    forget(at);
  }
  if (watched) watch(*after);
}

void ProgressReader::watch(const model::Job& job) {
  Watched watched;
  watched.uid = job.uid;
  watched.placed = *job.status.gang.placed;
  watched.latest = job.status.progress.value_or(model::Progress{});
  watched.lastSign = std::max(runningSince(job), watched.latest.at);
  watched.tailLines = kMaxTailLines;
  // A new leader finds all running jobs at once: jobs with reports, or expected to report, are due first.
  Watched& kept = jobs_[job.key] = std::move(watched);
  const bool stalled = job.conditionTrue(model::conditions::kStalled);
  if (stalled) kept.silentSince = kept.lastSign;
  const bool waited = core::wantsReports(job.spec) || job.status.progress.has_value();
  schedule(job.key, kept,
           deps_.executor.now() + (waited ? base::Instant::duration::zero() : kFirstQuietLook));
}

void ProgressReader::forget(Jobs::iterator at) {
  queue_.erase({at->second.due, at->first});
  changed_.erase(at->first);
  jobs_.erase(at);
}

void ProgressReader::schedule(const model::ObjectKey& key, Watched& watched, base::Instant due) {
  queue_.erase({watched.due, key});
  watched.due = due;
  queue_.emplace(due, key);
  if (queue_.begin()->second == key) arm();
}

void ProgressReader::arm() {
  deps_.executor.cancel(timer_);
  if (!started_ || queue_.empty() || open_ >= kRequestsAtOnce) return;
  timer_ = deps_.executor.postAt(std::max(queue_.begin()->first, nextRequest_), [this, alive = alive_] {
    if (*alive) pump();
  });
}

void ProgressReader::pump() {
  const base::Instant now = deps_.executor.now();
  if (!deps_.leading()) {
    nextRequest_ = now + kSweep;
  } else if (!queue_.empty() && queue_.begin()->first <= now && now >= nextRequest_) {
    const model::ObjectKey key = queue_.begin()->second;
    queue_.erase(queue_.begin());
    nextRequest_ = now + kBetweenRequests;
    if (const auto at = jobs_.find(key); at != jobs_.end() && !at->second.asking) ask(key, at->second);
  }
  arm();
}

void ProgressReader::ask(const model::ObjectKey& key, Watched& watched) {
  const auto job = deps_.cache.jobs.find(key);
  if (!job || job->uid != watched.uid) return;
  if (watched.candidates.empty()) {
    for (const Place& place : membersToRead(*job)) {
      const std::string name = model::podName(key.name, place.role->name, place.index);
      watched.candidates.push_back({{key.ns, name}, firstContainer(*place.role)});
    }
    if (watched.candidates.empty()) return;
  }
  const Candidate& candidate = watched.candidates[watched.next];
  // A foreign pod may have the name.
  const auto pod = deps_.cache.pods.find(candidate.pod);
  if (!pod || pod->controllerUid != watched.uid) {
    watched.next = (watched.next + 1) % watched.candidates.size();
    return schedule(key, watched, deps_.executor.now() + kProgressPeriod);
  }
  watched.asking = true;
  ++open_;
  kube::ApiRequest request{.path = kube::kPods.object(candidate.pod.ns, candidate.pod.name, "log"),
                           .query = {{"tailLines", fmt::to_string(watched.tailLines)},
                                     {"limitBytes", fmt::to_string(kLimitBytes)},
                                     {"timestamps", "true"}},
                           .timeout = kRequestTimeout,
                           .maxAnswerBytes = 2 * kLimitBytes};
  if (!candidate.container.empty()) request.query.emplace_back("container", candidate.container);
  deps_.api.request(std::move(request), [this, key, uid = watched.uid, which = watched.next,
                                         asked = deps_.executor.now(), alive = alive_](const Answer& answer) {
    if (*alive) answered(key, uid, which, asked, answer);
  });
}

void ProgressReader::answered(const model::ObjectKey& key, const model::Uid& uid, std::size_t candidate,
                              base::Instant asked, const Answer& answer) {
  --open_;
  deps_.metrics.countLogRead(answer.has_value());
  const auto at = jobs_.find(key);
  const auto job = deps_.cache.jobs.find(key);
  const bool same = at != jobs_.end() && at->second.uid == uid && at->second.asking && job &&
                    job->uid == uid && runs(*job) && candidate < at->second.candidates.size();
  if (!same) return arm();
  Watched& watched = at->second;
  watched.asking = false;
  const base::WallTime before = watched.lastSign;
  if (answer) {
    watched.candidates[candidate].readAt = asked;
    take(watched, watched.candidates[candidate], answer->body);
  }
  // A member that reports is read again. Otherwise the next member follows.
  const bool heard = answer && watched.lastSign != before;
  watched.quiet = watched.reported ? 0 : std::min(watched.quiet + 1, 16);
  if (!heard || !watched.reported) watched.next = (candidate + 1) % watched.candidates.size();
  look(*job, watched);
  schedule(key, watched, answer ? nextLook(*job, watched) : deps_.executor.now() + kProgressPeriod);
  arm();
  if (!differs(*job, watched)) return;
  changed_.insert(key);
  const bool stallDiffers =
      job->conditionTrue(model::conditions::kStalled) != watched.silentSince.has_value();
  if (stallDiffers || deps_.executor.now() >= watched.nextOffer) deps_.findings();
}

void ProgressReader::take(Watched& watched, Candidate& candidate, const std::string& log) {
  // The end of the log was cut off: request fewer lines next time.
  if (log.size() >= kLimitBytes) watched.tailLines = std::max(watched.tailLines / 10, 1);
  const base::WallTime now = deps_.executor.wallNow();
  model::Progress progress = watched.latest;
  const codec::LogTail tail =
      codec::readLogTail(log, candidate.seen.value_or(base::WallTime::min()), now, progress);
  const bool first = !std::exchange(candidate.read, true);
  if (tail.fingerprint == candidate.fingerprint) return;
  candidate.fingerprint = tail.fingerprint;
  if (tail.lastLine) candidate.seen = tail.lastLine;
  // For a log that is read for the first time, only its own timestamps show when it was written.
  if (const auto sign = first ? tail.lastLine : std::optional(now); sign)
    watched.lastSign = std::max(watched.lastSign, *sign);
  if (!tail.reported) return;
  // Reports of two members, or of an earlier start, may be read in any order: the newest report
  // counts.
  if (progress.at < watched.latest.at) return;
  watched.reported = true;
  deps_.metrics.countReports();
  if (progress.step != watched.latest.step || progress.at != watched.latest.at)
    watched.rate.note(progress.step, progress.at);
  if (!progress.remainingSeconds && progress.totalSteps) {
    if (const auto left = watched.rate.remaining(*progress.totalSteps))
      progress.remainingSeconds = left->count();
  }
  watched.latest = std::move(progress);
}

// A job counts as silent if every candidate member was read after the job's time had run out and had nothing
// new.
void ProgressReader::look(const model::Job& job, Watched& watched) {
  const auto stalls = core::stallsAt(job.spec.health, watched.lastSign);
  const base::WallTime now = deps_.executor.wallNow();
  if (!stalls || now < *stalls) {
    watched.silentSince.reset();
    return;
  }
  const base::Instant since = deps_.executor.now() - (now - *stalls);
  const bool allRead = std::all_of(watched.candidates.begin(), watched.candidates.end(),
                                   [&](const Candidate& each) { return each.readAt >= since; });
  if (allRead) watched.silentSince = watched.lastSign;
}

base::Instant ProgressReader::nextLook(const model::Job& job, const Watched& watched) const {
  const base::Instant now = deps_.executor.now();
  const bool often = watched.reported || core::wantsReports(job.spec);
  base::Instant::duration pause = kProgressPeriod;
  if (!often) {
    pause = kFirstQuietLook;
    for (int i = 1; i < watched.quiet && pause < kLastQuietLook; ++i) pause *= 2;
    pause = std::min(pause, kLastQuietLook);
  }
  const auto stalls = core::stallsAt(job.spec.health, watched.lastSign);
  if (!stalls || watched.silentSince) return now + pause;
  // A job with a very short stall timeout must not take more of the reads than others.
  const auto left =
      std::max<base::Instant::duration>(*stalls - deps_.executor.wallNow(), kProgressPeriod / 3);
  return now + std::min(pause, left);
}

bool ProgressReader::differs(const model::Job& job, const Watched& watched) const {
  const bool wasReported = job.conditionTrue(model::conditions::kStalled);
  if (wasReported != watched.silentSince.has_value()) return true;
  return watched.reported && job.status.progress != watched.latest;
}

std::map<model::ObjectKey, core::LifeSign> ProgressReader::findings() {
  std::map<model::ObjectKey, core::LifeSign> findings;
  const base::Instant now = deps_.executor.now();
  for (auto key = changed_.begin(); key != changed_.end();) {
    const auto at = jobs_.find(*key);
    const auto job = deps_.cache.jobs.find(*key);
    if (at == jobs_.end() || !job || job->uid != at->second.uid || !differs(*job, at->second)) {
      key = changed_.erase(key);
      continue;
    }
    Watched& watched = at->second;
    if (now >= watched.nextOffer && watched.reported && watched.offer != watched.latest) {
      watched.offer = watched.latest;
      watched.nextOffer = now + kBetweenOffers;
    }
    core::LifeSign sign;
    if (watched.offer && job->status.progress != watched.offer) sign.progress = watched.offer;
    sign.silentSince = watched.silentSince;
    const bool tells =
        sign.progress || job->conditionTrue(model::conditions::kStalled) != sign.silentSince.has_value();
    if (tells) findings.emplace(*key, std::move(sign));
    ++key;
  }
  return findings;
}

}  // namespace trainyard::operator_
