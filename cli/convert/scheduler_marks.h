#pragma once

#include <string>

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// Returns true for labels, annotations and resources that the scheduler of another system reads: Volcano's,
// KAI's, YuniKorn's and those of PodGroups. Kueue's are not among them.
[[nodiscard]] bool isSchedulerMark(const std::string& key);
// Returns true for those of them that name a queue.
[[nodiscard]] bool isQueueMark(const std::string& key);

// Handles labels and annotations with requests to another system's scheduler: converts them, or notes and
// drops them. `metadata` contains them, `origin` names it in notes.
void takeSchedulerMarks(Json& metadata, const std::string& origin, JobDraft& draft);

// Handles resources that only Volcano's scheduler assigns to a pod.
void takeVolcanoResources(const RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
