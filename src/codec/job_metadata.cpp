#include "codec/job_metadata.h"

#include "model/names.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name";
constexpr std::string_view kWorkload = "kueue.x-k8s.io/prebuilt-workload-name";
constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";

}  // namespace

void readJobMetadata(const Field& meta, model::Job& job) {
  job.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  job.uid = model::Uid(meta["uid"].text());
  job.resourceVersion = meta["resourceVersion"].text();
  job.generation = meta["generation"].integer(0, 0, INT64_MAX);
  job.created = meta["creationTimestamp"].time().value_or(base::WallTime{});
  job.deleting = meta["deletionTimestamp"].present();
  const Field labels = meta["labels"];
  if (const std::string_view queue = labels[kQueue].text(); !queue.empty()) {
    job.kueue = model::KueueRequest{.queue = std::string(queue),
                                    .workload = labels[kWorkload].string(),
                                    .priorityClass = labels[kPriorityClass].string()};
  }
  meta["finalizers"].forEachElement([&](const Field& finalizer) {
    if (finalizer.text() == model::names::kReleaseFinalizer) {
      job.hasReleaseFinalizer = true;
    } else {
      job.otherFinalizers.push_back(finalizer.string());
    }
  });
}

}  // namespace trainyard::codec
