#include "sim/cluster/observer.h"

#include "codec/list.h"
#include "codec/workload.h"

namespace trainyard::sim {
namespace {

const model::OwnerKind& jobKind() { return *model::findOwnerKind("batch", "Job"); }

}  // namespace

ClusterObserver::ClusterObserver(ApiServer& server, const base::Logger& log)
    : server_(server),
      cache_(log.named("observer")),
      owners_([](std::string_view json) { return codec::decodeWorkload(jobKind(), json); },
              log.named("observer")) {
  owners_.onChange([this](const auto& before, const auto& after) {
    if (before && (!after || after->uid != before->uid)) cache_.jobs.forgetOwner(before->uid);
    if (after) cache_.jobs.setOwner(after->uid, after->owner);
  });
}

ClusterObserver::~ClusterObserver() {
  for (const std::uint64_t id : watches_) server_.closeWatch(id);
}

base::Result<void> ClusterObserver::start() {
  if (auto done = watch(kube::kNodes, cache_.nodes); !done) return done;
  if (auto done = watch(kube::kTrainingJobs, cache_.jobs.trainingJobs); !done) return done;
  if (auto done = watch(kube::kGangs, cache_.jobs.gangs); !done) return done;
  if (auto done = watch({"batch", "v1", "jobs"}, owners_); !done) return done;
  if (auto done = watch(kube::kQueues, cache_.queues); !done) return done;
  if (auto done = watch(kube::kPriorityClasses, cache_.priorityClasses); !done) return done;
  if (auto done = watch(kube::kNamespaces, cache_.namespaces); !done) return done;
  return watch(kube::kPods, cache_.pods);
}

base::Result<void> ClusterObserver::watch(const kube::ResourceType& type, kube::ReflectorSink& sink) {
  WatchSink lines;
  lines.onLine = [&sink](std::string line) {
    const auto event = codec::decodeWatchEvent(std::move(line));
    if (!event) return;
    switch (event->type) {
      case codec::WatchEventType::kAdded:
      case codec::WatchEventType::kModified: return sink.upsert(event->object);
      case codec::WatchEventType::kDeleted: return sink.remove(event->object);
      case codec::WatchEventType::kBookmark:
      case codec::WatchEventType::kError: return;
    }
  };
  // A server that ends every watch must not blind the invariants that check it.
  lines.onClosed = [this, type, &sink] { static_cast<void>(watch(type, sink)); };
  const auto ticket = server_.openWatch({.target = type.collection() + "?watch=1"}, std::move(lines));
  if (!ticket) {
    return base::fail(base::ErrorCode::kInternal,
                      "the in-memory server refused a watch: " + ticket.error().body);
  }
  watches_.push_back(ticket->id);
  return {};
}

}  // namespace trainyard::sim
