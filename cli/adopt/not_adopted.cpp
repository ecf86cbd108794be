#include "cli/adopt/not_adopted.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/adopt/adoption.h"
#include "cli/convert/foreign_job.h"
#include "cli/convert/scheduler_marks.h"

namespace trainyard::cli {
namespace {

struct Advice {
  std::string_view kind;
  std::string_view text;
};

constexpr std::array<Advice, 4> kAdvice{{
    {"AppWrapper", "adopt the objects in it, without it"},
    {"DaemonSet", "its pods belong to every node, and wait for no queue"},
    {"PodGroup",
     "another scheduler reads it: name the gang in the pods' templates (label trainyard.dev/gang, annotation "
     "trainyard.dev/gang-size)"},
    {"Workflow",
     "write label trainyard.dev/queue and gate trainyard.dev/place into the templates of its steps"},
}};

// Kinds of queues and of rules for them.
bool ofScheduler(const std::string& group) {
  const std::string key = group + "/";
  return isSchedulerMark(key) || key.starts_with("kueue.x-k8s.io/");
}

bool hasPods(const Json& object) {
  Json copy = object;
  bool has = false;
  forEachPart(copy, [&](const Json& part, const std::string&) { has = has || isPodTemplate(part); });
  return has;
}

}  // namespace

std::string whyNotAdopted(const Json& object) {
  const std::string json = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  const ForeignJob job = foreignJob(json);
  if (job.group == "trainyard.dev") return {};
  const auto* const advice =
      std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& each) { return each.kind == job.kind; });
  if (advice != kAdvice.end()) return std::string(advice->text);
  if (job.known) return "`trainyard convert` makes a TrainingJob of it";
  if (ofScheduler(job.group)) return "another scheduler reads it: write a Queue of trainyard.dev";
  if (hasPods(object) || !staysAsItIs(json))
    return "no kind that Trainyard knows: write label trainyard.dev/queue and gate trainyard.dev/place into "
           "the "
           "templates of its pods, if it has some";
  return {};
}

std::string makerOf(const Json& object) {
  for (const Json& each : listOf(get(object, "metadata", "ownerReferences"))) {
    if (get(each, "controller") == true)
      return fmt::format("{} {}", textOf(get(each, "kind")), textOf(get(each, "name")));
  }
  return {};
}

}  // namespace trainyard::cli
