#include "cli/adopt/adopt.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/adopt/adopt_kinds.h"
#include "cli/adopt/adoption.h"
#include "cli/adopt/foreign_marks.h"
#include "cli/adopt/not_adopted.h"
#include "cli/convert/foreign_job.h"
#include "cli/convert/placeholders.h"
#include "cli/json_text.h"
#include "cli/plain_text.h"

namespace trainyard::cli {
namespace {

class FileAdopter {
 public:
  FileAdopter(const std::vector<Manifest>& manifests, const AdoptOptions& options)
      : manifests_(manifests), options_(options) {}

  base::Result<AdoptedFile> adopt() {
    countGangs();
    for (const Manifest& each : manifests_) {
      const auto done = addObject(each);
      if (!done) return base::fail(done.error());
    }
    if (any_) return std::move(file_);
    std::string why;
    for (const std::string& each : file_.report) why += (why.empty() ? "" : "; ") + each;
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("no object could be adopted{}{}", why.empty() ? "" : ": ", why));
  }

 private:
  // Two objects of one name, such as a Deployment and a StatefulSet, must not become one gang.
  void countGangs() {
    std::set<std::string> names;
    for (const Manifest& each : manifests_) {
      const ForeignJob job = foreignJob(each.json);
      const Json object = Json::parse(each.json);
      const bool isLeftOut = !makerOf(object).empty() || !whyOver(each.json).empty();
      if (!hasOwnTemplates(job.kind, job.group) || isLeftOut) continue;
      countPods(object, sizes_);
      const std::string name = fmt::format("{}/{}", each.ns, each.name);
      if (job.kind != "Pod" && !names.insert(name).second) sizes_.try_emplace(name, 0);
    }
  }

  base::Result<void> addObject(const Manifest& manifest) {
    if (const std::string why = whyOver(manifest.json); !why.empty()) {
      any_ = true;
      file_.report.push_back(why);
      return {};
    }
    Json object = Json::parse(manifest.json);
    if (const std::string maker = makerOf(object); !maker.empty() && isAdoptable(manifest)) {
      any_ = true;
      report(manifest, {Severity::kKept, fmt::format("left out: {} makes it: adopt that", maker)});
      return {};
    }
    if (isAdoptable(manifest)) return addAdopted(manifest, std::move(object));
    if (const std::string why = whyNotAdopted(object); !why.empty())
      report(manifest, {Severity::kLost, fmt::format("{}: unchanged: {}", toString(Severity::kLost), why)});
    return write(manifest.json);
  }

  [[nodiscard]] static bool isAdoptable(const Manifest& manifest) {
    const ForeignJob job = foreignJob(manifest.json);
    return model::findOwnerKind(job.group, job.kind) != nullptr || hasOwnTemplates(job.kind, job.group) ||
           (job.kind == "CronJob" && job.group == "batch");
  }

  base::Result<void> addAdopted(const Manifest& manifest, Json object) {
    const ForeignJob job = foreignJob(manifest.json);
    any_ = true;
    Adoption adoption(std::move(object), options_);
    try {
      takeForeignMarks(adoption);
      if (const auto* kind = model::findOwnerKind(job.group, job.kind); kind != nullptr) {
        adoptOwner(*kind, adoption.object(), "", adoption);
      } else if (job.kind == "CronJob") {
        adoptOwner(*model::findOwnerKind("batch", "Job"), adoption.object()["spec"]["jobTemplate"],
                   "spec.jobTemplate", adoption);
      } else {
        adoptPods(sizes_, adoption);
      }
    } catch (const Json::exception& error) {
      // The object is malformed, such as a list in place of an object: its API server would have refused it.
      return base::fail(base::ErrorCode::kInvalid,
                        fmt::format("{}: {} {} is not well-formed: {}", manifest.file, manifest.kind,
                                    manifest.name, error.what()));
    }
    for (const AdoptLine& each : adoption.lines()) report(manifest, each);
    return write(adoption.object().dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  base::Result<void> write(const std::string& json) {
    const auto yaml = yamlOfJson(json);
    if (!yaml) return base::fail(yaml.error());
    if (!file_.text.empty()) file_.text += "---\n";
    file_.text += withPlainPlaceholders(*yaml);
    return {};
  }

  void report(const Manifest& manifest, const AdoptLine& line) {
    std::string name = manifest.name;
    if (name.empty()) name = textOf(get(Json::parse(manifest.json), "metadata", "generateName"));
    file_.report.push_back(plainText(fmt::format("{} {}: {}", manifest.kind, name, line.text), false));
    file_.worst = std::max(file_.worst, line.severity);
  }

  const std::vector<Manifest>& manifests_;
  const AdoptOptions& options_;
  GangSizes sizes_;
  AdoptedFile file_;
  bool any_ = false;
};

}  // namespace

base::Result<AdoptedFile> adoptManifests(const std::vector<Manifest>& manifests,
                                         const AdoptOptions& options) {
  if (manifests.empty()) return base::fail(base::ErrorCode::kInvalid, "there is no object in the files");
  if (!options.queue.empty() && !isQueueName(options.queue))
    return base::fail(base::ErrorCode::kInvalid, fmt::format("\"{}\" is no name of a Queue", options.queue));
  return FileAdopter(manifests, options).adopt();
}

}  // namespace trainyard::cli
