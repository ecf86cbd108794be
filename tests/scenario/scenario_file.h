#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/index_set.h"
#include "scenario/scenario_text.h"

// The statements of a scenario file; docs/scenarios.md describes the format. Names are copied from the file
// and checked for their form only: whether a queue or a priority class exists is up to the product.
namespace trainyard::test {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct TaintText {
  std::string key;
  std::string value;
  std::string effect;
};

struct NodeText {
  std::string name;
  Amounts amounts;
  Pairs labels;
  std::vector<TaintText> taints;
  bool cordoned = false;
  bool ready = true;
};

struct PodText {
  std::string name;  // "ns/name"
  std::string node;  // empty: kube-scheduler finds one
  Amounts amounts;
  std::string owner;  // kind
  bool terminating = false;
  std::optional<std::chrono::seconds> runsFor = std::nullopt;
};

struct QueueText {
  std::string name;
  std::string parent;
  int weight = 1;
  Amounts guaranteed;
  Amounts limit;
  bool reclaim = true;
  bool withinQueue = true;
  Pairs namespaces;  // required labels of a namespace
  Words classes;     // its permitted PriorityClasses; none: all
};

struct ClassText {
  std::string name;
  int value = 0;
  bool byDefault = false;
  bool preempts = true;
};

struct NamespaceText {
  std::string name;
  Pairs labels;
};

struct RoleText {
  std::string name;
  int count = 1;
  Amounts amounts;
  Pairs select;
  std::vector<std::string> tolerate;
  std::optional<std::chrono::seconds> runsFor = std::nullopt;  // otherwise the job's
  std::optional<std::chrono::seconds> stopsIn = std::nullopt;
};

// Members that are already placed.
struct RunsText {
  std::string role;
  model::IndexSet indices;
  std::string node;
  Amounts amounts;  // replace the template's
};

struct ElasticText {
  std::string role;
  int minimum = 1;
  int most = 1;
};

struct LevelText {
  std::string level;
  std::optional<std::chrono::seconds> wait;
};

struct CheckpointText {
  std::string mode;
  std::optional<std::chrono::seconds> every;
  std::optional<std::chrono::seconds> restart;
};

struct JobText {
  std::string name;  // "ns/name"
  std::string queue;
  std::string priority;
  std::string required;
  std::vector<LevelText> levels;
  bool preemptible = true;
  bool suspended = false;
  std::string restartScope;
  std::vector<std::pair<std::string, int>> speeds;  // plan.model.speeds: type of GPU, samples per second
  std::optional<std::chrono::seconds> timeout;
  std::optional<std::chrono::seconds> deadline;
  int created = 0;             // seconds; in one moment only
  std::optional<int> started;  // the start of the members in `runs`; otherwise `created`
  std::optional<int> minimum;  // gang.minAvailable
  std::optional<ElasticText> elastic;
  std::optional<std::chrono::seconds> estimate;
  std::optional<CheckpointText> checkpoint;
  std::optional<std::chrono::seconds> runsFor;
  std::optional<std::chrono::seconds> stopsIn;
  std::string successRole;  // the job succeeds as soon as one of its members does
  std::string cleanPods;
  std::vector<RoleText> roles;
  std::vector<RunsText> runs;

  [[nodiscard]] const RoleText* findRole(std::string_view role) const;
};

// An action of a user or of the cluster on an existing object.
struct DeedText {
  enum class Verb {
    kDeleteJob,
    kDeletePod,
    kDeleteNode,
    kDeleteQueue,
    kFinish,
    kFail,
    kCordon,
    kUncordon,
    kDown,
    kUp,
    kScale,
    kSuspend,
    kResume,
    kPrioritize,
    kEdit,
    kRestartOperator,
  };
  Verb verb = Verb::kFinish;
  std::string name;
  Words rest;  // fail: role and index; scale: number; prioritize: class; edit: attribute
};

// The head of an `expect` line and the lines below it, without indentation.
struct Expectation {
  std::string subject;  // "ml/bert", "queue prod", "pod x/y" or "evictions"
  std::string head;
  std::vector<std::string> body;
};

struct Step {
  int line = 0;
  std::chrono::seconds at{0};
  std::variant<NodeText, PodText, QueueText, ClassText, NamespaceText, JobText, DeedText, Expectation> what;
};

struct Scenario {
  std::string file;
  std::string title;
  bool inTime = false;      // has a line `at TIME`
  int now = 0;              // of a single moment, in seconds
  Pairs levels;             // name and label key, widest first; empty: the product's
  std::string policy;       // the `policy` block, as in a policy file; empty: the product's
  int policyLine = 0;       // of its first line
  std::vector<Step> steps;  // in order of time, then as written
};

// Reads the text of one .scenario file. kInvalid names the file, the line and the text.
[[nodiscard]] base::Result<Scenario> parseScenario(std::string_view fileName, std::string_view text);

}  // namespace trainyard::test
