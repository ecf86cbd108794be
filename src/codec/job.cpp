#include "codec/job.h"

#include <utility>

#include <fmt/format.h>

#include "codec/decode_object.h"
#include "codec/gang_object.h"
#include "codec/job_metadata.h"
#include "codec/job_size.h"
#include "codec/job_spec.h"
#include "codec/job_status_reader.h"
#include "codec/more_memory.h"
#include "codec/object_meta.h"
#include "model/gang_name.h"
#include "model/managed_by.h"

namespace trainyard::codec {
namespace {

using model::Job;

// Clears what people do not read in a status that another controller writes. It may describe another cluster:
// MultiKueue copies a status whole, with a record that names nodes of the cluster that runs the job.
void keepForReaders(model::JobStatus& status) {
  status.gang = {};
  status.gpus = 0;
  status.service = {};
  status.lastFailure.reset();
}

Job readJob(const Field& root) {
  Job job;
  readJobMetadata(root["metadata"], job);
  job.status = readJobStatus(root["status"]);
  FieldErrors specErrors;
  const Field spec(root.value().find("spec"), specErrors, "spec");
  job.spec = readJobSpec(spec, job.key, job.status.plan ? &*job.status.plan : nullptr);
  if (model::managedByOther(job)) keepForReaders(job.status);
  checkJobSize(spec["roles"], job);
  job.specError = specErrors.first();
  job.errorInTemplate = specErrors.firstIn("template");
  // No pod is created from an invalid spec, and templates are the largest part of a job in the cache.
  if (specErrors.any()) {
    for (model::Role& role : job.spec.roles) std::string().swap(role.templateJson);
  }
  if (job.status.restarts.of(model::FailureClass::kHostOutOfMemory) > 0) giveMoreMemory(job);
  return job;
}

}  // namespace

base::Result<Job> decodeJob(std::string_view json) {
  const auto pruned = pruneDeepValues(json, kReadDepth);
  auto job = decodeObject("job", pruned ? std::string_view(*pruned) : json, readJob);
  if (job && pruned && job->specError.empty()) {
    job->specError = fmt::format("spec: nested deeper than {} levels", kReadDepth);
  }
  return job;
}

base::Result<Job> decodeJobOrGang(std::string_view json) {
  const auto meta = decodeObjectMeta(json);
  if (!meta || !model::isGangName(meta->name)) return decodeJob(json);
  return decodeGang(json).map([](model::Gang gang) {
    Job job = std::move(gang);
    return job;
  });
}

}  // namespace trainyard::codec
