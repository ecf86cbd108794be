#include "operator/console/tried_jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "codec/field.h"
#include "codec/job.h"
#include "codec/json_place.h"
#include "codec/json_writer.h"
#include "operator/console/answers.h"
#include "operator/simulation.h"

namespace trainyard::operator_::console {
namespace {

using base::ErrorCode;
using codec::Field;
using JobPtr = std::shared_ptr<const model::Job>;

constexpr std::size_t kMaxErrorBytes = 1'024;

// Calls visit(item, its field path) for each item. Returns the first error of visit() or of the document.
template <typename Visit>
base::Result<void> forEachItem(std::string_view json, Visit&& visit) {
  const auto document = codec::JsonDocument::parse(json);
  if (!document) {
    const std::string place = codec::placeOfJsonMistake(json);
    return base::fail(ErrorCode::kInvalid, fmt::format("the body{}: {}", place.empty() ? "" : ", " + place,
                                                       document.error().message));
  }
  codec::FieldErrors errors;
  const Field root(document->root(), errors);
  base::Result<void> result;
  std::size_t count = 0;
  root["items"].forEachElement([&](const Field& each) {
    if (++count > kMaxTriedJobs || !result || errors.any()) return;
    result = visit(each, fmt::format("items[{}]", count - 1));
  });
  if (errors.any()) return base::fail(ErrorCode::kInvalid, errors.first());
  if (!result) return result;
  if (count == 0) return base::fail(ErrorCode::kInvalid, "items: must have a job");
  if (count > kMaxTriedJobs)
    return base::fail(ErrorCode::kInvalid,
                      fmt::format("items: {} jobs, at most {} are tried at once", count, kMaxTriedJobs));
  return {};
}

bool isThere(const model::ObjectKey& key, const std::vector<JobPtr>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const JobPtr& each) { return each->key == key; });
}

base::Result<void> takePods(const Field& pods, const std::string& place, model::Job& job) {
  for (model::Role& role : job.spec.roles) {
    const codec::JsonValue pod = pods.value().find(role.name);
    if (!pod.present()) continue;
    if (const auto taken = takeAdmittedPod(pod.minified(), job.key.ns, role); !taken)
      return base::fail(ErrorCode::kInvalid,
                        fmt::format("{}.pods.{}: {}", place, role.name, taken.error().message));
  }
  return {};
}

}  // namespace

std::string writeTriedJobs(const std::vector<TriedJob>& jobs) {
  codec::JsonWriter out;
  out.beginObject().key("items").beginArray();
  for (const TriedJob& each : jobs) {
    out.beginObject().key("job").raw(each.job).key("pods").beginObject();
    for (const auto& [role, pod] : each.pods) out.key(role).raw(pod);
    out.endObject();
    if (!each.templateError.empty()) out.member("templateError", each.templateError);
    out.endObject();
  }
  out.endArray().endObject();
  return std::move(out).take();
}

base::Result<Names> namespacesOf(std::string_view json) {
  Names namespaces;
  const auto read = forEachItem(json, [&](const Field& item, const std::string& place) -> base::Result<void> {
    const Field meta = item["job"]["metadata"];
    for (const char* part : {"namespace", "name"}) {
      if (!plainName(meta[part].text()))
        return base::fail(ErrorCode::kInvalid,
                          fmt::format("{}.job.metadata.{}: is missing, or not a valid name", place, part));
    }
    namespaces.insert(meta["namespace"].string());
    return {};
  });
  if (!read) return base::fail(read.error());
  return namespaces;
}

base::Result<std::vector<JobPtr>> readTriedJobs(std::string_view json, core::CycleInput& input) {
  std::vector<JobPtr> jobs;
  const auto read = forEachItem(json, [&](const Field& item, const std::string& place) -> base::Result<void> {
    const auto refuse = [&](ErrorCode code, std::string_view why) {
      return base::fail(code, fmt::format("{}.{}", place, why));
    };
    // Leaves out the status: in the API only operators may write it, but here a caller could set anything.
    codec::JsonWriter asked;
    asked.beginObject();
    for (const char* part : {"metadata", "spec"}) {
      if (const Field field = item["job"][part]; field.present())
        asked.key(part).raw(field.value().minified());
    }
    asked.endObject();
    auto decoded = codec::decodeJob(std::move(asked).take());
    if (!decoded) return refuse(ErrorCode::kInvalid, decoded.error().message);
    model::Job job;
    job.key = std::move(decoded->key);
    job.spec = std::move(decoded->spec);
    if (isThere(job.key, input.snapshot.jobs.items()))
      return refuse(ErrorCode::kAlreadyExists,
                    fmt::format("job.metadata.name: TrainingJob {} exists already", job.key));
    if (isThere(job.key, jobs))
      return refuse(ErrorCode::kInvalid, fmt::format("job.metadata.name: {} occurs twice", job.key));
    // The API server assigns no such uid, so no job has it.
    job.uid = model::Uid(fmt::format("({})", place));
    job.generation = 1;
    job.created = input.snapshot.now + std::chrono::milliseconds(jobs.size());
    job.specError = std::move(decoded->specError);
    job.errorInTemplate = decoded->errorInTemplate;
    if (auto taken = takePods(item["pods"], place, job); !taken) return taken;
    input.feedback[job.key].templateError = base::cutText(item["templateError"].text(), kMaxErrorBytes);
    jobs.push_back(std::make_shared<const model::Job>(std::move(job)));
    return {};
  });
  if (!read) return base::fail(read.error());
  return jobs;
}

}  // namespace trainyard::operator_::console
