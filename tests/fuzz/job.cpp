#include "codec/job.h"

#include <fmt/format.h>

#include "codec/job_status.h"
#include "codec/member_pod.h"
#include "codec/pod.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {
namespace {

void writeMembers(const model::Job& job) {
  for (const model::Role& role : job.spec.roles) {
    const auto text = codec::encodeMemberPod(job, role, 0, {.epoch = 3});
    if (job.specError.empty()) require(text.has_value(), "a usable spec gives pods");
    if (!text) continue;
    const auto pod = codec::decodePod(*text);
    require(pod.has_value() || !job.specError.empty(), "a pod made from a usable spec can be read");
    if (!pod || !job.specError.empty()) continue;
    require(pod->member && pod->member->role == role.name && pod->member->epoch == 3,
            "a member's pod is known for a member");
    require(pod->gangGated, "a member's pod waits at the gate");
  }
}

void writeStatus(const model::Job& job) {
  const auto again = codec::decodeJob(
      fmt::format(R"({{"metadata":{{"name":"n"}},"status":{}}})", codec::encodeJobStatus(job.status)));
  require(again.has_value(), "a status that was read can be written and read");
  require(again->status.gang == job.status.gang, "the gang record survives being written");
  require(!codec::encodeStatusPatch(job, job.status), "nothing changed, nothing to write");
}

}  // namespace

void job(std::string_view input) {
  const auto job = codec::decodeJob(input);
  if (!job) return require(job.error().code == base::ErrorCode::kInvalid, "what cannot be read is invalid");
  writeMembers(*job);
  writeStatus(*job);
}

}  // namespace trainyard::fuzz
