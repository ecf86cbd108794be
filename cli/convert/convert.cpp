#include "cli/convert/convert.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/convert/check.h"
#include "cli/convert/draft.h"
#include "cli/convert/foreign_job.h"
#include "cli/convert/lost_labels.h"
#include "cli/convert/placeholders.h"
#include "cli/convert/system_facts.h"
#include "cli/json_text.h"
#include "cli/plain_text.h"

namespace trainyard::cli {
namespace {

using Drafter = void (*)(const Json&, JobDraft&);

struct ConvertedKind {
  std::string_view kind;
  std::string_view group;
  Drafter draft;
};

constexpr std::array<ConvertedKind, 12> kConvertedKinds{{{"PyTorchJob", "kubeflow.org", draftPyTorchJob},
                                                         {"MPIJob", "kubeflow.org", draftMpiJob},
                                                         {"TFJob", "kubeflow.org", draftTfJob},
                                                         {"XGBoostJob", "kubeflow.org", draftXgBoostJob},
                                                         {"PaddleJob", "kubeflow.org", draftPaddleJob},
                                                         {"JAXJob", "kubeflow.org", draftJaxJob},
                                                         {"TrainJob", "trainer.kubeflow.org", draftTrainJob},
                                                         {"JobSet", "jobset.x-k8s.io", draftJobSet},
                                                         {"Job", "batch", draftIndexedJob},
                                                         {"RayCluster", "ray.io", draftRayCluster},
                                                         {"RayJob", "ray.io", draftRayJob},
                                                         {"Job", "batch.volcano.sh", draftVolcanoJob}}};

Drafter drafterOf(const ForeignJob& job) {
  for (const ConvertedKind& each : kConvertedKinds) {
    if (job.known && each.kind == job.kind && each.group == job.group) return each.draft;
  }
  return nullptr;
}

class FileConverter {
 public:
  explicit FileConverter(const std::vector<Manifest>& manifests) : manifests_(manifests) {
    for (const Manifest& each : manifests) {
      companions_.objects.push_back(each.json);
      const ForeignJob job = foreignJob(each.json);
      if (const SystemFacts* facts = factsOf(job.kind, job.group); facts != nullptr) systems_.insert(facts);
    }
  }

  base::Result<ConvertedFile> convert() {
    bool any = false;
    std::string refusal;
    for (const Manifest& manifest : manifests_) {
      if (const std::string why = whyLeftOut(manifest.json); !why.empty()) {
        file_.text += fmt::format("# {}\n", why);
        any = true;
      } else if (foreignJob(manifest.json).known) {
        any = true;
        if (const auto added = addJob(manifest); !added) return base::fail(added.error());
      } else if (staysAsItIs(manifest.json)) {
        if (const auto added = addAsItIs(manifest); !added) return base::fail(added.error());
      } else {
        const std::string unknown = convertJob(manifest.json).error().message;
        refusal += fmt::format("{}{}: {}", refusal.empty() ? "" : "; ", manifest.file, unknown);
        add({Severity::kLost, fmt::format("{} {}: left out: {}", manifest.kind, manifest.name, unknown)},
            manifest);
      }
    }
    if (any) return std::move(file_);
    if (refusal.empty())
      refusal =
          fmt::format("{}: {}", manifests_.front().file, convertJob(manifests_.front().json).error().message);
    return base::fail(base::ErrorCode::kInvalid, refusal);
  }

 private:
  base::Result<void> addJob(const Manifest& manifest) {
    const auto converted = convertJob(manifest.json, companions_);
    if (!converted)
      return base::fail(
          converted.error().code,
          fmt::format("{}: {}", manifest.whereOf(converted.error().message), converted.error().message));
    begin();
    for (const Note& note : converted->notes) add(note, manifest);
    if (const auto written = write(converted->json); !written) return written;
    for (const std::string& object : converted->objects) {
      begin();
      if (const auto written = write(object); !written) return written;
    }
    return {};
  }

  base::Result<void> addAsItIs(const Manifest& manifest) {
    begin();
    file_.text += "# as it was\n";
    if (const std::string why = heldByOthers(manifest.json); !why.empty())
      add({Severity::kChanged, fmt::format("{} {}: {}", manifest.kind, manifest.name, why)}, manifest);
    for (const SystemFacts* system : systems_) {
      for (const std::string& lost : lostLabels(manifest.json, *system))
        add({Severity::kChanged,
             plainText(fmt::format("{} {}: {}", manifest.kind, manifest.name, lost), false)},
            manifest);
    }
    return write(manifest.json);
  }

  void begin() {
    if (hasObject_) file_.text += "---\n";
    hasObject_ = true;
  }

  base::Result<void> write(const std::string& json) {
    const auto yaml = yamlOfJson(json);
    if (!yaml) return base::fail(yaml.error());
    file_.text += withPlainPlaceholders(*yaml);
    return {};
  }

  void add(const Note& note, const Manifest& manifest) {
    file_.text += fmt::format("# {}: {}\n", toString(note.severity), note.text);
    file_.worst = std::max(file_.worst, note.severity);
    if (note.severity != Severity::kKept)
      file_.problems.push_back(
          fmt::format("{} {}: {}: {}", manifest.kind, manifest.name, toString(note.severity), note.text));
  }

  const std::vector<Manifest>& manifests_;
  Companions companions_;
  std::set<const SystemFacts*> systems_;  // of the jobs in the files
  ConvertedFile file_;
  bool hasObject_ = false;
};

}  // namespace

namespace {

// YAML parses a name such as off or 017 as another type.
std::string namesThatAreNoText(const Json& whole) {
  for (const char* key : {"name", "generateName", "namespace"}) {
    const Json value = get(whole, "metadata", key);
    if (!value.is_null() && !value.is_string())
      return fmt::format("metadata.{}: {} is not text: write it in quotes", key, value.dump());
  }
  return {};
}

}  // namespace

base::Result<Converted> convertJob(const std::string& json, const Companions& companions) {
  const ForeignJob source = foreignJob(json);
  const SystemFacts* facts = factsOf(source.kind, source.group);
  const Drafter draftJob = drafterOf(source);
  if (facts == nullptr || draftJob == nullptr) {
    return base::fail(
        base::ErrorCode::kInvalid,
        fmt::format(
            "{} of {} cannot be converted; `trainyard convert --table` has the kinds, and `trainyard adopt` "
            "has others placed as they are",
            source.kind.empty() ? "an object without kind" : source.kind, source.group));
  }
  try {
    const Json whole = Json::parse(json, nullptr, false);
    if (std::string fault = namesThatAreNoText(whole); !fault.empty())
      return base::fail(base::ErrorCode::kInvalid, std::move(fault));
    JobDraft draft(whole, *facts, companions);
    draftJob(whole, draft);
    auto converted = draft.finish();
    if (!converted) return converted;
    for (Note& each : checkConverted(converted->json)) converted->notes.push_back(std::move(each));
    return converted;
  } catch (const Json::exception& error) {
    // The object is malformed, such as a list in place of an object: its API server would have refused it.
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} is not well-formed: {}", source.kind, error.what()));
  }
}

base::Result<ConvertedFile> convertManifests(const std::vector<Manifest>& manifests) {
  if (manifests.empty()) return base::fail(base::ErrorCode::kInvalid, "there is no object in the files");
  return FileConverter(manifests).convert();
}

}  // namespace trainyard::cli
