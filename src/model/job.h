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
#include "model/framework.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/kueue.h"
#include "model/owner.h"
#include "model/progress.h"
#include "model/reasons.h"
#include "model/resize.h"
#include "model/shape_plan.h"

namespace trainyard::model {

struct ModelProfile;  // model/model_profile.h

struct Role {
  std::string name;
  int replicas = 1;
  PodShape shape;                            // of one member, from the template
  std::string templateJson;                  // the PodTemplateSpec as written, without any reformatting
  std::vector<std::string> containers = {};  // names of its containers; admission may add others to the pods
  // The termination grace period that the job requests for a member.
  std::chrono::seconds grace{30};
  // The number of pods in a group, for a Gang whose pods come in groups, such as the Jobs of a JobSet. Member
  // `index` is pod `index % groupSize` of group `index / groupSize`. 0: the pods come in no groups.
  int groupSize = 0;
};

struct Elastic {
  std::string role;
  int replicas = 0;
  int minReplicas = 0;
  int maxReplicas = 0;
  std::chrono::seconds cooldown{300};   // between two automatic resizes
  std::vector<SpeedPoint> speeds = {};  // as declared; measured speeds take precedence
};

// How a job survives preemption.
enum class CheckpointMode {
  kNone,      // periodic ones by itself every `every`, or none at all
  kSignal,    // writes one on SIGTERM, within the grace period
  kLauncher,  // trainyard-launch makes it write one
  kHelper,    // the library of examples/ makes it write one
  kHttp,      // an HTTP request asks for one
};

struct Checkpoint {
  CheckpointMode mode = CheckpointMode::kSignal;
  std::chrono::seconds gracePeriod{30};
  std::optional<std::chrono::seconds> every = std::nullopt;  // between two periodic checkpoints
  std::chrono::seconds restart{60};                          // from placement to the state of the checkpoint
  int httpPort = 0;                                          // kHttp: the port of the request, in every pod
  std::string httpPath = {};

  // Returns true if any work survives preemption.
  [[nodiscard]] bool keepsWork() const { return mode != CheckpointMode::kNone || every.has_value(); }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct LocalityLevel {
  std::string level;
  std::optional<std::chrono::seconds> wait = std::nullopt;  // absent: grows with the job
};

struct Locality {
  std::vector<LocalityLevel> levels;  // tightest first
  std::string required;               // never wider than this level; empty: any
};

enum class CleanPodPolicy { kRunning, kAll, kNone };
enum class SuccessOperator { kAll, kAny };

struct RunPolicy {
  bool suspend = false;
  CleanPodPolicy cleanPodPolicy = CleanPodPolicy::kRunning;
  std::optional<std::chrono::seconds> ttlAfterFinished = std::nullopt;
  std::optional<std::chrono::seconds> activeDeadline = std::nullopt;
};

struct SuccessPolicy {
  SuccessOperator op = SuccessOperator::kAll;
  std::vector<std::string> roles;  // empty: the default of the framework decides
};

// spec.plan: whether the operator chooses the shape, and for which model.
struct PlanRequest {
  bool automatic = false;
  std::optional<int> maxGpus = std::nullopt;
  std::shared_ptr<const ModelProfile> profile = nullptr;
};

// spec.network: the priority of this job's traffic on shared nodes.
struct NetworkRequest {
  bool off = false;                        // its traffic is not ordered
  std::optional<int> band = std::nullopt;  // 0 goes first; absent: the operator chooses
};

// spec.health.
struct HealthPolicy {
  bool preflight = false;
  std::chrono::seconds stall{0};  // allowed time without a sign of life; 0: unlimited
  bool restartStalled = false;    // false: only a condition reports it
};

struct JobSpec {
  Framework framework = Framework::kCustom;
  std::string managedBy;  // not empty and not Trainyard: the job is ignored
  QueueName queue;        // names::kDefaultQueue stands for the namespace's queue, if that names one
  std::string priorityClassName;
  bool preemptible = false;
  std::vector<Role> roles;
  std::optional<Elastic> elastic = std::nullopt;
  std::optional<int> minAvailable = std::nullopt;
  bool disruptionBudget = false;              // a PodDisruptionBudget guards the gang
  bool memberServices = false;                // each member's name resolves in its namespace
  std::chrono::seconds schedulingTimeout{0};  // 0: unlimited
  Locality locality;
  std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
  std::optional<Checkpoint> checkpoint = std::nullopt;  // absent: preemption loses all work since the start
  RunPolicy run;
  SuccessPolicy success;
  FailurePolicy failure;
  PlanRequest plan;
  NetworkRequest network;
  HealthPolicy health;
  // A hash over all templates and other inputs of pods; equal hashes create equal pods.
  std::string templateHash;
  // Requested features that are not implemented: a condition names them.
  std::vector<std::string> unsupported;

  // Members of a role when the gang starts: the elastic role counts elastic.replicas. The record has the
  // later number: model/gang_size.h.
  [[nodiscard]] int startReplicas(const Role& role) const;
  [[nodiscard]] int totalReplicas() const;
  // Returns true if the job may ever have a second pod; a single pod needs neither DNS name nor member list.
  [[nodiscard]] bool mayHavePeers() const;
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

// The shortfall in the closest domain; numbers in the resource's own unit (millicores, bytes, pieces).
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

// A job that holds the missing resource, and how much of it.
struct Blocker {
  ObjectKey job;
  int nodes = 0;
  int gpus = 0;
  std::optional<base::WallTime> expectedEnd = std::nullopt;
  friend bool operator==(const Blocker&, const Blocker&) = default;
};

// Why a job is pending, with numbers. `reason` is from a closed set: one for condition, event and metric.
struct Pending {
  PendingReason reason = PendingReason::kWaitingForCapacity;
  std::string message;
  base::WallTime since{};  // since when with this reason
  std::optional<Shortfall> shortfall = std::nullopt;
  std::vector<Blocker> blockedBy = {};
  DelayKind delay = DelayKind::kNone;                           // the kind of delay that this wait counts as
  std::optional<base::WallTime> nextRelaxation = std::nullopt;  // when the next wider level is acceptable
  std::optional<base::WallTime> estimatedStart = std::nullopt;
  // Since when nodes, or capacity below a limit, have been reserved for it.
  std::optional<base::WallTime> reservedSince = std::nullopt;
  // The reason as written, if `reason` is kOther: a newer version set it.
  std::string otherReason = {};
  // The beginning of `message` about what the job needs. Only the jobs behind it in the same cycle use it: it
  // is not part of a status.
  std::string needs = {};

  // The reason as status and messages show it.
  [[nodiscard]] std::string_view reasonText() const;
  friend bool operator==(const Pending&, const Pending&) = default;
};

// How long the job has waited in completed waits; `pending` has the current one.
struct Delays {
  std::chrono::seconds fairShare{0};
  std::chrono::seconds fragmentation{0};
  friend bool operator==(const Delays&, const Delays&) = default;
};

// The usage of the job until `updatedAt`; while it is placed, its GPUs add to it from then on.
struct Service {
  std::int64_t gpuSeconds = 0;
  std::int64_t runSeconds = 0;  // with any size
  base::WallTime updatedAt{};
  friend bool operator==(const Service&, const Service&) = default;
};

// The preemptions of the job, with the time and the preemptor of the last one.
struct Preemptions {
  int count = 0;
  int byOtherQueues = 0;  // of these
  base::WallTime last{};
  std::optional<ObjectKey> by = std::nullopt;  // absent in statuses of older versions
  friend bool operator==(const Preemptions&, const Preemptions&) = default;
};

// The restarts of the job because of failures.
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
  std::string action;   // the reaction: "Failed", "Restarted"
  std::string message;  // one sentence
  NodeName node;
  std::string pod;
  std::optional<int> exitCode = std::nullopt;
  base::WallTime time{};
  friend bool operator==(const LastFailure&, const LastFailure&) = default;
};

struct JobStatus {
  std::string phase;     // for people; derived from the conditions
  QueueName queue = {};  // charged to, or pending in
  std::int64_t observedGeneration = 0;
  std::vector<Condition> conditions;
  std::vector<RoleStatus> roles;
  int replicas = 0;       // of the elastic role (all roles if rigid): the value of the scale subresource
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

// A TrainingJob; or a Gang, whose pods other controllers make. Their names never collide: that of a Gang has
// a dot.
struct Job {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  std::int64_t generation = 0;
  base::WallTime created{};
  bool deleting = false;
  bool hasReleaseFinalizer = false;
  std::vector<std::string> otherFinalizers = {};  // of other controllers: kept by every write
  // The maker of a Gang's pods; null for a TrainingJob, whose pods the operator makes.
  std::shared_ptr<const Owner> owner = nullptr;
  JobSpec spec;
  JobStatus status;
  // Why the spec is not usable, with the field; empty if it is.
  std::string specError;
  bool errorInTemplate = false;  // the field is inside of a pod template
  // Absent: it asks for no quota of Kueue, and Trainyard's queues alone count.
  std::optional<KueueRequest> kueue = std::nullopt;
  // Why Kueue holds the job; empty if it does not. Then `spec.run.suspend` is set as well, whatever the user
  // wrote: a held job has neither pods nor nodes.
  std::string heldByKueue = {};
  // The volume that keeps the job pending, and why; empty if none does.
  std::string volumeProblem = {};
  // Why the devices that its templates claim cannot be promised, with the field; empty if they can.
  std::string deviceProblem = {};
  // For a single-pod job: its pod, bound or being created, replaces status.gang, which is not written yet.
  bool recordUnwritten = false;

  [[nodiscard]] const Condition* condition(std::string_view type) const;
  [[nodiscard]] bool conditionTrue(std::string_view type) const;
  // Succeeded or Failed.
  [[nodiscard]] bool finished() const;
};

// A Job that is a Gang; a type of its own for its cache alone.
struct Gang : Job {};

// "JOB-ROLE-INDEX".
[[nodiscard]] std::string podName(std::string_view job, std::string_view role, int index);

// The host name of a member for the others: "JOB-ROLE-INDEX.JOB.NAMESPACE.svc", resolved by the job's
// headless Service. "localhost" in a job that never has a second pod, and so no Service.
[[nodiscard]] std::string memberHost(const Job& job, std::string_view role, int index);

}  // namespace trainyard::model
