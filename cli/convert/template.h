#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/convert/draft.h"

// Pod templates of other systems; only converters include this file.
namespace trainyard::cli {

// Returns the texts of the ConfigMaps beside a job: scripts that may refer to it.
[[nodiscard]] std::vector<std::string> scriptsOf(const Companions& companions);

// Turns templates into what a TrainingJob accepts (codec/pod_template.h, codec/pod_apartness.h).
class TemplateCleaner {
 public:
  explicit TemplateCleaner(JobDraft& draft) : draft_(draft), notes_(draft.notes()) {}

  void clean(RoleDraft& role);
  // Called after all roles: handles the affinity among them.
  void settle();

 private:
  void cleanTop(RoleDraft& role);
  void dropUnknown(RoleDraft& role, Json& object, const std::string& path, std::string_view kind);
  void dropRefused(RoleDraft& role);
  void takeKueue(RoleDraft& role);
  void addLabels(RoleDraft& role);
  bool addLabel(RoleDraft& role, const LabelFact& fact) const;
  std::string pathOf(RoleDraft& role, const LabelFact& fact) const;
  void mapFieldRefs(RoleDraft& role, Json& value);
  void takeAffinity(RoleDraft& role);
  [[nodiscard]] bool selectsAll(const Json& selector) const;
  void require(const std::string& topologyKey, const std::string& origin);

  JobDraft& draft_;
  ConversionNotes& notes_;
};

}  // namespace trainyard::cli
