#include "codec/job_metadata.h"

#include "model/names.h"

namespace trainyard::codec {

void readJobMetadata(const Field& meta, model::Job& job) {
  job.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  job.uid = model::Uid(meta["uid"].text());
  job.resourceVersion = meta["resourceVersion"].text();
  job.generation = meta["generation"].integer(0, 0, INT64_MAX);
  job.created = meta["creationTimestamp"].time().value_or(base::WallTime{});
  job.deleting = meta["deletionTimestamp"].present();
  meta["finalizers"].forEachElement([&](const Field& finalizer) {
    if (finalizer.text() == model::names::kReleaseFinalizer) {
      job.hasReleaseFinalizer = true;
    } else {
      job.otherFinalizers.push_back(finalizer.string());
    }
  });
}

}  // namespace trainyard::codec
