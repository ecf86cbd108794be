#include "operator/evidence_collector.h"

#include <time.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "codec/member_evidence.h"
#include "core/lifecycle/log_lines.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

using Answer = base::Result<kube::ApiResponse>;

// A hundred more members would show the same evidence.
constexpr std::size_t kMaxWitnesses = 64;
constexpr std::size_t kRequestsAtOnce = 8;  // of one collection
constexpr std::size_t kCollectionsAtOnce = 16;
constexpr std::size_t kOfOneNamespace = 8;  // of these, for one namespace
constexpr base::Instant::duration kOthersEnd = std::chrono::seconds(2);
constexpr base::Instant::duration kPatience = std::chrono::seconds(10);
// The kubelet applies limitBytes from the first of the requested lines on, so the limit exceeds both what the
// lines usually take and what is kept.
constexpr std::size_t kLimitBytes = std::size_t{1} << 20;
constexpr std::size_t kKeptBytes = std::size_t{128} << 10;
constexpr std::chrono::milliseconds kRequestTimeout{5'000};

// Built once per process, at the first failed gang: some hundred expressions take time to compile.
const core::FailureClassifier& builtIn() {
  static const core::FailureClassifier made = *core::FailureClassifier::make();
  return made;
}

// Limits this thread's CPU time for all logs of a gang; those of 64 members take a thirtieth of it.
constexpr std::chrono::milliseconds kReading{1'000};

// True if `left` is read before `right`: ended members first, by the time of their end. A member whose end
// has no time was taken by its node, which is often the cause, so it comes before those with one.
bool endedBefore(const Witness& left, const Witness& right) {
  if (left.ended != right.ended) return left.ended;
  return left.ended && left.endedAt < right.endedAt;
}

// Returns the CPU time of this thread, so that load on the machine makes no difference.
std::chrono::nanoseconds worked() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Returns the first collection with the lowest `measure`; end() if there is none.
template <typename Collections, typename Measure>
auto nextInTurn(Collections& collections, const Measure& measure) {
  auto next = collections.end();
  for (auto each = collections.begin(); each != collections.end(); ++each) {
    if (next == collections.end() || measure(**each) < measure(**next)) next = each;
  }
  return next;
}

// The evidence of a gang's members, and the names of their pods.
struct Known {
  std::vector<model::MemberEvidence> members;
  std::vector<std::string> pods;
};

core::Failure failureOf(const Known& known, const core::FailureClassifier& classifier,
                        const std::function<bool()>& enough) {
  const core::Classification found = classifier.classify(known.members, enough);
  core::Failure failure;
  failure.failure = found.failure;
  failure.message = found.note.empty() ? found.line : fmt::format("{}: {}", found.note, found.line);
  failure.action = found.action;
  if (found.root) {
    failure.pod = known.pods[*found.root];
    failure.node = model::NodeName(known.members[*found.root].node);
  }
  return failure;
}

}  // namespace

struct EvidenceCollector::Collection {
  std::string ns;
  std::vector<Witness> witnesses;
  std::vector<std::optional<model::MemberEvidence>> evidence;
  Done done;
  std::size_t next = 0;
  std::size_t open = 0;
  base::TimerId timer{};
  bool concluded = false;
  Known known = {};
};

EvidenceCollector::EvidenceCollector(kube::ApiClient& api, base::Executor& executor, Offload offload)
    : api_(api), executor_(executor), offload_(std::move(offload)) {}

EvidenceCollector::~EvidenceCollector() { *alive_ = false; }

base::Result<void> EvidenceCollector::setRules(const std::vector<model::FailureRule>& rules) {
  if (rules.empty()) {
    own_.reset();
    return {};
  }
  auto made = core::FailureClassifier::make(rules);
  if (!made) return tl::unexpected(made.error());
  own_ = *std::move(made);
  return {};
}

void EvidenceCollector::collect(std::vector<Witness> witnesses, Done done) {
  auto collection = std::make_shared<Collection>();
  std::stable_sort(witnesses.begin(), witnesses.end(), endedBefore);
  const bool allEnded = witnesses.empty() || witnesses.back().ended;
  // Keeps some running members of a large gang: the others may have failed because they waited for one.
  if (witnesses.size() > kMaxWitnesses)
    witnesses.erase(witnesses.begin() + kMaxWitnesses / 2,
                    witnesses.end() - static_cast<std::ptrdiff_t>(kMaxWitnesses / 2));
  if (!witnesses.empty()) collection->ns = witnesses.front().pod.ns;
  collection->witnesses = std::move(witnesses);
  collection->evidence.resize(collection->witnesses.size());
  collection->done = std::move(done);
  executor_.postAfter(allEnded ? base::Instant::duration::zero() : kOthersEnd,
                      [this, collection, alive = alive_] {
                        if (!*alive) return;
                        waiting_.push_back(collection);
                        beginNext();
                      });
}

void EvidenceCollector::beginNext() {
  while (underWay_ < kCollectionsAtOnce && !waiting_.empty()) {
    const auto held = [&](const Collection& each) {
      const auto found = underWayOf_.find(each.ns);
      return found == underWayOf_.end() ? std::size_t{0} : found->second;
    };
    const auto first = nextInTurn(waiting_, held);
    if (held(**first) >= kOfOneNamespace) return;
    const CollectionPtr next = std::move(*first);
    waiting_.erase(first);
    ++underWay_;
    ++underWayOf_[next->ns];
    begin(next);
  }
}

void EvidenceCollector::begin(const CollectionPtr& collection) {
  collection->timer = executor_.postAfter(kPatience, [this, collection, alive = alive_] {
    if (*alive) conclude(collection);
  });
  if (collection->witnesses.empty()) return conclude(collection);
  askNext(collection);
}

void EvidenceCollector::askNext(const CollectionPtr& collection) {
  while (collection->open < kRequestsAtOnce && collection->next < collection->witnesses.size()) {
    ++collection->open;
    askPod(collection, collection->next++);
  }
}

void EvidenceCollector::askPod(const CollectionPtr& collection, std::size_t witness) {
  const Witness& member = collection->witnesses[witness];
  api_.request({.path = kube::kPods.object(member.pod.ns, member.pod.name), .timeout = kRequestTimeout},
               [this, collection, witness, alive = alive_](const Answer& answer) {
                 if (!*alive || collection->concluded) return;
                 auto evidence = answer ? codec::decodePodEnd(answer->body)
                                        : base::Result<model::MemberEvidence>(tl::unexpected(answer.error()));
                 if (!evidence) return answered(collection);
                 evidence->role = collection->witnesses[witness].role;
                 evidence->index = collection->witnesses[witness].index;
                 collection->evidence[witness] = *std::move(evidence);
                 askLog(collection, witness);
               });
}

void EvidenceCollector::askLog(const CollectionPtr& collection, std::size_t witness) {
  const Witness& member = collection->witnesses[witness];
  kube::ApiRequest request{
      .path = kube::kPods.object(member.pod.ns, member.pod.name, "log"),
      .query = {{"tailLines", fmt::to_string(core::kLogLines)}, {"limitBytes", fmt::to_string(kLimitBytes)}},
      .timeout = kRequestTimeout,
      .maxAnswerBytes = 2 * kLimitBytes};
  if (!member.container.empty()) request.query.emplace_back("container", member.container);
  api_.request(std::move(request), [this, collection, witness, alive = alive_](const Answer& answer) {
    if (!*alive || collection->concluded) return;
    // A container that never started, or ran on a node that is gone, has no log.
    if (answer) {
      const std::string_view whole = answer->body;
      collection->evidence[witness]->log = whole.substr(whole.size() - std::min(whole.size(), kKeptBytes));
    }
    answered(collection);
  });
}

void EvidenceCollector::answered(const CollectionPtr& collection) {
  --collection->open;
  askNext(collection);
  if (collection->open == 0) conclude(collection);
}

void EvidenceCollector::conclude(const CollectionPtr& collection) {
  if (std::exchange(collection->concluded, true)) return;
  executor_.cancel(collection->timer);
  Known& known = collection->known;
  for (std::size_t i = 0; i < collection->evidence.size(); ++i) {
    if (!collection->evidence[i]) continue;
    known.members.push_back(*std::move(collection->evidence[i]));
    known.pods.push_back(collection->witnesses[i].pod.name);
  }
  if (!offload_) return classified(collection, failureOf(known, own_ ? *own_ : builtIn(), {}));
  answered_.push_back(collection);
  classifyNext();
}

void EvidenceCollector::classifyNext() {
  if (classifying_ || answered_.empty()) return;
  const auto first = nextInTurn(answered_, [&](const Collection& each) {
    const auto found = lastTurn_.find(each.ns);
    return found == lastTurn_.end() ? std::uint64_t{0} : found->second;
  });
  const CollectionPtr collection = std::move(*first);
  answered_.erase(first);
  lastTurn_[collection->ns] = ++turn_;
  classifying_ = true;
  offload_([this, collection, own = own_, alive = alive_]() -> base::Task {
    const core::FailureClassifier& classifier = own ? *own : builtIn();
    const auto end = worked() + kReading;
    core::Failure failure = failureOf(collection->known, classifier, [end] { return worked() >= end; });
    return [this, collection, alive, failure = std::move(failure)] {
      if (!*alive) return;
      classifying_ = false;
      classifyNext();
      classified(collection, failure);
    };
  });
}

void EvidenceCollector::classified(const CollectionPtr& collection, const core::Failure& failure) {
  --underWay_;
  if (--underWayOf_.at(collection->ns) == 0) {
    underWayOf_.erase(collection->ns);
    lastTurn_.erase(collection->ns);
  }
  executor_.post([this, alive = alive_] {
    if (*alive) beginNext();
  });
  collection->done(failure);
}

}  // namespace trainyard::operator_
