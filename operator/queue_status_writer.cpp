#include "operator/queue_status_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/queue.h"
#include "kube/paths.h"
#include "model/conditions.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;

constexpr base::Instant::duration kPause = std::chrono::seconds(2);      // between two writes of one queue
constexpr base::Instant::duration kLongPause = std::chrono::minutes(1);  // where only decayed usage differs
constexpr base::Instant::duration kFirstRetry = std::chrono::seconds(1);
constexpr base::Instant::duration kLastRetry = std::chrono::seconds(30);
constexpr std::size_t kMaxAtOnce = 8;
// Conflicts with faster writers. After this many, the write backs off.
constexpr int kMaxStatusConflicts = 20;

const model::Condition* readyOf(const model::QueueStatus& status) {
  const auto at = std::find_if(status.conditions.begin(), status.conditions.end(),
                               [](const auto& each) { return each.type == model::conditions::kReady; });
  return at == status.conditions.end() ? nullptr : &*at;
}

bool onlyDecayDiffers(model::QueueStatus a, const model::QueueStatus& b) {
  a.decayedUsage = b.decayedUsage;
  a.decayedAt = b.decayedAt;
  return a == b;
}

}  // namespace

QueueStatusWriter::QueueStatusWriter(Dependencies dependencies) : deps_(std::move(dependencies)) {}

QueueStatusWriter::~QueueStatusWriter() {
  *alive_ = false;
  deps_.executor.cancel(timer_);
}

kube::ApiCallback QueueStatusWriter::guarded(std::function<void(const Answer&)> callback) const {
  return [alive = alive_, callback = std::move(callback)](const Answer& answer) {
    if (*alive) callback(answer);
  };
}

void QueueStatusWriter::take(const std::vector<core::QueueStatusUpdate>& updates) {
  for (auto& [name, state] : states_) {
    state.waiting.reset();
    state.overtaken = state.writing;
  }
  for (const core::QueueStatusUpdate& each : updates)
    states_[each.queue->name].waiting = Update{each.queue->uid, each.queue->generation, each.status};
  const base::Instant now = deps_.executor.now();
  if (!updates.empty() && (!timerDue_ || *timerDue_ > now)) armTimer(now);
}

void QueueStatusWriter::armTimer(std::optional<base::Instant> due) {
  deps_.executor.cancel(timer_);
  timerDue_ = due;
  if (!due) return;
  timer_ = deps_.executor.postAt(*due, [this, alive = alive_] {
    if (!*alive) return;
    timerDue_.reset();
    writeDue();
  });
}

base::Instant QueueStatusWriter::dueAt(const State& state, const model::Queue& queue) const {
  if (state.lastWrite == base::Instant::min()) return state.notBefore;
  const bool slow = onlyDecayDiffers(queue.status, state.waiting->status);
  return std::max(state.notBefore, state.lastWrite + (slow ? kLongPause : kPause));
}

void QueueStatusWriter::writeDue() {
  std::erase_if(states_, [&](const auto& entry) {
    return !entry.second.writing && deps_.cache.queues.find(entry.first) == nullptr;
  });
  std::optional<base::Instant> next;
  for (auto& [name, state] : states_) {
    if (const auto due = writeUnlessEarly(name, state)) next = next ? std::min(*next, *due) : due;
  }
  armTimer(next);
}

std::optional<base::Instant> QueueStatusWriter::writeUnlessEarly(const model::QueueName& name, State& state) {
  if (state.writing || !state.waiting) return std::nullopt;
  const auto queue = deps_.cache.queues.find(name);
  const Update& update = *state.waiting;
  if (queue->uid != update.uid || queue->generation != update.generation || queue->status == update.status) {
    state.waiting.reset();
    return std::nullopt;
  }
  const base::Instant due = dueAt(state, *queue);
  if (due > deps_.executor.now()) return due;
  if (busy_ == kMaxAtOnce) return std::nullopt;  // the end of a write calls this again
  state.writing = true;
  ++busy_;
  state.conflicts = 0;
  const Update taken = std::move(*std::exchange(state.waiting, std::nullopt));
  write(name, taken, *queue);
  return std::nullopt;
}

void QueueStatusWriter::write(const model::QueueName& name, const Update& update, const model::Queue& queue) {
  const auto patch = codec::encodeQueueStatusPatch(queue, update.status);
  if (!patch) return done(name);
  states_[name].writtenFrom = queue.resourceVersion;
  const model::Condition* ready = readyOf(queue.status);
  states_[name].readyReason = ready == nullptr ? "" : ready->reason;
  deps_.metrics.countWrite("queues/status");
  deps_.api.patch(kube::PatchType::kMerge, kube::kQueues.object("", name.str()) + "/status", *patch,
                  guarded([this, name, update](const Answer& answer) { written(name, update, answer); }));
}

void QueueStatusWriter::written(const model::QueueName& name, const Update& update, const Answer& answer) {
  if (answer) {
    deps_.cache.queues.applyWrite(answer->body);
    states_[name].lastWrite = deps_.executor.now();
    reportChange(name, update);
    return done(name);
  }
  switch (answer.error().code) {
    case ErrorCode::kConflict:
      return readAgain(name, update, ++states_[name].conflicts <= kMaxStatusConflicts);
    case ErrorCode::kOutcomeUnknown: return readAgain(name, update, false);
    case ErrorCode::kNotFound: deps_.cache.queues.forget(name, update.uid.str()); return done(name);
    default:
      deps_.log.warning("a queue's status could not be written",
                        {{"queue", name.str()},
                         {"code", base::toString(answer.error().code)},
                         {"error", answer.error().message}});
      return failed(name, update);
  }
}

// A new queue that is usable needs no Event.
void QueueStatusWriter::reportChange(const model::QueueName& name, const Update& update) {
  const auto queue = deps_.cache.queues.find(name);
  const model::Condition* ready = readyOf(update.status);
  const std::string& before = states_[name].readyReason;
  if (!deps_.changed || !queue || ready == nullptr || ready->reason == before) return;
  if (before.empty() && ready->reason == "Usable") return;
  deps_.changed(*queue, *ready);
}

void QueueStatusWriter::readAgain(const model::QueueName& name, const Update& update, bool mayRepeat) {
  deps_.api.get(
      kube::kQueues.object("", name.str()), guarded([this, name, update, mayRepeat](const Answer& answer) {
        if (!answer) {
          if (answer.error().code != ErrorCode::kNotFound) return failed(name, update);
          deps_.cache.queues.forget(name, update.uid.str());
          return done(name);
        }
        deps_.cache.queues.applyWrite(answer->body);
        const auto queue = deps_.cache.queues.find(name);
        // Another spec: the status for the old one is obsolete, and a cycle is on its way.
        const bool same = queue && queue->uid == update.uid && queue->generation == update.generation;
        if (!same) return done(name);
        // The object cannot be decoded or is unchanged since the write: a repeat would fail again.
        const bool learnt = queue->resourceVersion != states_[name].writtenFrom;
        if (!mayRepeat || !learnt) return failed(name, update);
        write(name, update, *queue);
      }));
}

void QueueStatusWriter::done(const model::QueueName& name) {
  State& state = states_[name];
  state.failures = 0;
  state.notBefore = base::Instant::min();
  turnOver(state);
}

// Keeps the status unless a newer one waits, since no other cycle may come.
void QueueStatusWriter::failed(const model::QueueName& name, const Update& update) {
  State& state = states_[name];
  if (!state.waiting) state.waiting = update;
  base::Instant::duration delay = kFirstRetry;
  for (int i = 0; i < state.failures && delay < kLastRetry; ++i) delay *= 2;
  ++state.failures;
  state.notBefore = deps_.executor.now() + std::min(delay, kLastRetry);
  turnOver(state);
}

void QueueStatusWriter::turnOver(State& state) {
  --busy_;
  state.writing = false;
  if (std::exchange(state.overtaken, false) && deps_.overtaken) deps_.overtaken();
  armTimer(deps_.executor.now());
}

}  // namespace trainyard::operator_
