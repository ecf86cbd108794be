#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/conditions.h"
#include "model/constraints.h"
#include "model/failure_class.h"
#include "model/failure_policy.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/progress.h"
#include "model/reasons.h"
#include "model/resize.h"
#include "model/shape_plan.h"

namespace trainyard::model {

struct ModelProfile;  // model/model_profile.h

enum class Framework { kPyTorch, kTensorFlow, kJax, kMxNet, kHorovod, kMpi, kCustom };

struct Role {
  std::string name;
  int replicas = 1;
  PodShape shape;            // of one member, from the template
  std::string templateJson;  // the PodTemplateSpec as written, never re-formatted field by field
  std::vector<std::string> containers = {};  // their names; admission may add others to the pods
  // How long a member may take to end when it is told to, as the job asks for it.
  std::chrono::seconds grace{30};
};

struct Elastic {
  std::string role;
  int replicas = 0;
  int minReplicas = 0;
  int maxReplicas = 0;
  std::chrono::seconds cooldown{300};   // between two resizes that nobody asked for
  std::vector<SpeedPoint> speeds = {};  // as declared; what is measured goes before
};

// How a job comes through a stop.
enum class CheckpointMode {
  kNone,      // it writes one every `every` by itself, or none at all
  kSignal,    // it writes one on SIGTERM, within the grace period
  kLauncher,  // trainyard-launch has it write one
  kHelper,    // the library of examples/ does
  kHttp,      // it is asked over HTTP
};

struct Checkpoint {
  CheckpointMode mode = CheckpointMode::kSignal;
  std::chrono::seconds gracePeriod{30};
  std::optional<std::chrono::seconds> every = std::nullopt;  // between two that it writes by itself
  std::chrono::seconds restart{60};                          // from its places to where it was
  int httpPort = 0;                                          // kHttp: where to ask, in every pod
  std::string httpPath = {};

  // Whether anything of what was done outlives a stop.
  [[nodiscard]] bool keepsWork() const { return mode != CheckpointMode::kNone || every.has_value(); }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct LocalityLevel {
  std::string level;
  std::optional<std::chrono::seconds> wait = std::nullopt;  // absent: grows with the job
};

struct Locality {
  std::vector<LocalityLevel> levels;  // tightest first
  std::string required;               // never wider than this level; empty: anywhere
};

enum class CleanPodPolicy { kRunning, kAll, kNone };
enum class SuccessOperator { kAll, kAny };

struct RunPolicy {
  bool suspend = false;
  CleanPodPolicy cleanPodPolicy = CleanPodPolicy::kRunning;
  std::optional<std::chrono::seconds> ttlAfterFinished = std::nullopt;
  std::optional<std::chrono::seconds> activeDeadline = std::nullopt;
  std::string managedBy;  // not empty and not us: hands off
};

struct SuccessPolicy {
  SuccessOperator op = SuccessOperator::kAll;
  std::vector<std::string> roles;  // empty: the framework's rule decides
};

// spec.plan: whether the operator chooses the shape, and for what model.
struct PlanRequest {
  bool automatic = false;
  std::optional<int> maxGpus = std::nullopt;
  std::shared_ptr<const ModelProfile> profile = nullptr;
};

// spec.network: how the traffic of this job is ranked on nodes that it shares.
struct NetworkRequest {
  bool off = false;                        // left alone
  std::optional<int> band = std::nullopt;  // 0 goes first; absent: the operator chooses
};

// spec.health.
struct HealthPolicy {
  bool preflight = false;
  std::chrono::seconds stall{0};  // without a sign of life; 0: never
  bool restartStalled = false;    // else it is only told
};

struct JobSpec {
  Framework framework = Framework::kCustom;
  QueueName queue;  // names::kDefaultQueue stands for that of its namespace, where this names one
  std::string priorityClassName;
  bool preemptible = false;
  std::vector<Role> roles;
  std::optional<Elastic> elastic = std::nullopt;
  std::optional<int> minAvailable = std::nullopt;
  bool disruptionBudget = false;              // a PodDisruptionBudget guards the gang
  bool memberServices = false;                // each member's name is a host name of its namespace
  std::chrono::seconds schedulingTimeout{0};  // 0: wait for ever
  Locality locality;
  std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
  std::optional<Checkpoint> checkpoint = std::nullopt;  // absent: a stop loses all since the start
  RunPolicy run;
  SuccessPolicy success;
  FailurePolicy failure;
  PlanRequest plan;
  NetworkRequest network;
  HealthPolicy health;
  // Over all templates and what else decides how pods look; equal hashes make equal pods.
  std::string templateHash;
  // Features that were asked for and are not built: named in the condition that says so.
  std::vector<std::string> unsupported;

  // Members of a role when the gang starts: the elastic role counts elastic.replicas. How many it has later
  // is told by its record: model/gang_size.h.
  [[nodiscard]] int startReplicas(const Role& role) const;
  [[nodiscard]] int totalReplicas() const;
  // Whether the job may ever have a second pod; alone, a pod needs neither DNS name nor list of its mates.
  [[nodiscard]] bool mayHaveMates() const;
  [[nodiscard]] const Role* findRole(std::string_view name) const;
};

struct RoleStatus {
  std::string name;
  int desired = 0;
  int active = 0;  // bound and not finished
  int ready = 0;
  int succeeded = 0;
  int failed = 0;
  friend bool operator==(const RoleStatus&, const RoleStatus&) = default;
};

// What is missing in the best place there is; numbers in the resource's own unit (millicores, bytes, pieces).
struct Shortfall {
  std::string resource;
  std::int64_t needed = 0;
  std::int64_t available = 0;
  int neededNodes = 0;
  int availableNodes = 0;
  std::string level;
  std::string domain;
  friend bool operator==(const Shortfall&, const Shortfall&) = default;
};

// A job that holds what is missing, and how much of it there.
struct Blocker {
  ObjectKey job;
  int nodes = 0;
  int gpus = 0;
  std::optional<base::WallTime> expectedEnd = std::nullopt;
  friend bool operator==(const Blocker&, const Blocker&) = default;
};

// Why a job waits, with numbers. `reason` is out of a closed set, the same in condition, event and metric.
struct Pending {
  PendingReason reason = PendingReason::kWaitingForCapacity;
  std::string message;
  base::WallTime since{};  // since when for this reason
  std::optional<Shortfall> shortfall = std::nullopt;
  std::vector<Blocker> blockedBy = {};
  DelayKind delay = DelayKind::kNone;                           // what this wait is counted as
  std::optional<base::WallTime> nextRelaxation = std::nullopt;  // when the next wider level will do
  std::optional<base::WallTime> estimatedStart = std::nullopt;
  // Since when places have been kept for it, or room below a limit.
  std::optional<base::WallTime> reservedSince = std::nullopt;
  // The reason as it is written, where `reason` is kOther: a newer version gave it.
  std::string otherReason = {};
  // What `message` begins with where it tells what the job needs. For those behind it in the same cycle only:
  // it is not part of a status.
  std::string needs = {};

  // The word in status and on the screen.
  [[nodiscard]] std::string_view reasonWord() const;
  friend bool operator==(const Pending&, const Pending&) = default;
};

// How long the job has waited in the stretches that are over; `pending` tells of the present one.
struct Delays {
  std::chrono::seconds fairShare{0};
  std::chrono::seconds fragmentation{0};
  friend bool operator==(const Delays&, const Delays&) = default;
};

// What the job has consumed until `updatedAt`; while it is placed, its GPUs count on from there.
struct Service {
  std::int64_t gpuSeconds = 0;
  std::int64_t runSeconds = 0;  // with whatever size
  base::WallTime updatedAt{};
  friend bool operator==(const Service&, const Service&) = default;
};

// How often the job was preempted, and when and for which job the last time.
struct Preemptions {
  int count = 0;
  int byOtherQueues = 0;  // of these
  base::WallTime last{};
  std::optional<ObjectKey> by = std::nullopt;  // absent in statuses of older versions
  friend bool operator==(const Preemptions&, const Preemptions&) = default;
};

// How often the job was started anew because of a failure.
struct Restarts {
  int counted = 0;                                    // against spec.failure.maxRestarts
  std::vector<std::pair<FailureClass, int>> byClass;  // all of them, in the order of the classes
  int lossesInARow = 0;  // losses of members, each soon after the failure or loss before it
  [[nodiscard]] int of(FailureClass failure) const;
  void add(FailureClass failure, bool counts);
  friend bool operator==(const Restarts&, const Restarts&) = default;
};

// The failure that last stopped the job or a part of it.
struct LastFailure {
  FailureClass failure = FailureClass::kUnknown;
  std::string action;   // what was done about it: "Failed", "Restarted"
  std::string message;  // in a sentence
  NodeName node;
  std::string pod;
  std::optional<int> exitCode = std::nullopt;
  base::WallTime time{};
  friend bool operator==(const LastFailure&, const LastFailure&) = default;
};

struct JobStatus {
  std::string phase;     // for people; derived from the conditions
  QueueName queue = {};  // that it is charged to, or waits in
  std::int64_t observedGeneration = 0;
  std::vector<Condition> conditions;
  std::vector<RoleStatus> roles;
  int replicas = 0;       // of the elastic role (all roles when rigid): what the scale subresource shows
  std::string selector;   // label selector of those pods
  std::string ready;      // "3/4", for the printer column
  std::int64_t gpus = 0;  // of the whole gang
  GangRecord gang;
  std::optional<Pending> pending = std::nullopt;
  Delays delays;
  Service service;
  Preemptions preemptions;
  Restarts restarts;
  std::optional<LastFailure> lastFailure = std::nullopt;
  std::optional<Progress> progress = std::nullopt;
  std::optional<ShapePlan> plan = std::nullopt;
  ResizeStatus resize;
  std::optional<base::WallTime> startTime = std::nullopt;
  std::optional<base::WallTime> completionTime = std::nullopt;
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

// A TrainingJob.
struct Job {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  std::int64_t generation = 0;
  base::WallTime created{};
  bool deleting = false;
  bool hasReleaseFinalizer = false;
  std::vector<std::string> otherFinalizers = {};  // of others: kept when ours is written
  JobSpec spec;
  JobStatus status;
  // Why the spec cannot be used, naming the field; empty when it can.
  std::string specError;
  bool errorInTemplate = false;  // the field is inside of a pod template
  // Which of its volumes keeps the job waiting, and why; empty where none does.
  std::string volumeProblem = {};
  // Of a gang of one: its pod, bound or being made, stands for status.gang, which is not written yet.
  bool recordUnwritten = false;

  [[nodiscard]] const Condition* condition(std::string_view type) const;
  [[nodiscard]] bool conditionTrue(std::string_view type) const;
  // Succeeded or Failed.
  [[nodiscard]] bool finished() const;
};

// "JOB-ROLE-INDEX".
[[nodiscard]] std::string podName(std::string_view job, std::string_view role, int index);

// Where the mates of a member find it: "JOB-ROLE-INDEX.JOB.NAMESPACE.svc", resolved by the job's headless
// Service. "localhost" in a job that never has a second pod, which has no such Service.
[[nodiscard]] std::string memberHost(const Job& job, std::string_view role, int index);

}  // namespace trainyard::model
