#include <fmt/format.h>

#include "cli/convert/batch_job.h"
#include "cli/convert/draft.h"

namespace trainyard::cli {
namespace {

// The operator makes a Service of the job's name for its members.
bool hasServiceOfName(const JobDraft& draft) {
  for (const std::string& each : draft.companions().objects) {
    const Json object = Json::parse(each, nullptr, false);
    if (get(object, "kind") == "Service" && get(object, "metadata", "name") == draft.name()) return true;
  }
  return false;
}

}  // namespace

void draftIndexedJob(const Json& source, JobDraft& draft) {
  const Json spec = get(source, "spec");
  draft.spec()["framework"] = "Custom";
  BatchJobs jobs(draft);
  jobs.note(spec, "spec");
  RoleDraft* role = jobs.add("worker", spec, "spec", draft.name());
  if (role == nullptr) return;
  const std::string domain = textOf(get(role->pod, "spec", "subdomain"));
  if (!domain.empty()) {
    role->pod["spec"].erase("subdomain");
    moveDomain(domain, draft);
  }
  if (hasServiceOfName(draft))
    draft.notes().cannotWork(fmt::format(
        "Service {}: the operator makes one of that name for the members: leave it out", draft.name()));
  draft.addSuspend(get(spec, "suspend"), "spec.suspend");
  jobs.writeFailures(0);
}

}  // namespace trainyard::cli
