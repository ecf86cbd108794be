#include "codec/job_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "codec/failure_policy.h"
#include "codec/host_ports.h"
#include "codec/late_members.h"
#include "codec/model_profile.h"
#include "codec/pod_apartness.h"
#include "codec/pod_shape.h"
#include "codec/pod_template.h"
#include "codec/read_enum.h"
#include "codec/shape_plan.h"
#include "codec/template_hash.h"
#include "model/limits.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

using model::JobSpec;
using std::chrono::seconds;

constexpr int kMaxReplicas = 10'000;
constexpr std::size_t kMaxRoleName = 16;
constexpr std::size_t kMaxHostname = 63;
constexpr int kMaxPort = 65'535;
// The bounds of spec.elastic, in seconds, as in the schema.
constexpr int kDefaultCooldown = 300;
constexpr int kMaxCooldown = 604'800;
// The bounds of spec.checkpoint, in seconds, as in the schema.
constexpr int kDefaultGrace = 30;
constexpr int kMaxGrace = 3'600;
constexpr int kMaxEvery = 31'536'000;
constexpr int kDefaultRestart = 60;
constexpr int kMaxRestart = 86'400;
// The bound of spec.plan.
constexpr int kMaxPlannedGpus = 80'000;
// The bounds of lists, as in the schema. They are checked here because not every input has passed the schema.
constexpr std::size_t kMaxLevels = 8;
constexpr std::size_t kMaxSpeeds = 32;

model::Framework readFramework(const Field& field) {
  std::array<std::pair<std::string_view, model::Framework>, model::kFrameworks.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = {model::kFrameworks[i].name, model::kFrameworks[i].framework};
  if (!field.present()) field.complain("is required");
  return readEnum(field, names, model::Framework::kCustom);
}

std::optional<seconds> readSeconds(const Field& field) {
  if (!field.present()) return std::nullopt;
  return seconds(field.smallInteger(0, 0));
}

bool isRoleName(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kMaxRoleName && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Returns the grace period of the job's pods. A job that saves its state on termination gets the time for it,
// but never less than its template requests or than a pod gets by default.
seconds readGrace(const Field& podSpec, const std::optional<model::Checkpoint>& checkpoint) {
  const seconds own = readGracePeriod(podSpec);
  const bool saves = checkpoint && checkpoint->mode != model::CheckpointMode::kNone;
  return saves ? std::max(own, checkpoint->gracePeriod) : own;
}

// The maker of the pods of a template.
enum class PodMaker { kOperator, kOthers };

model::Role readRole(const Field& element, std::string_view ns, const JobSpec& spec, PodMaker maker) {
  const Field nameField = element["name"];
  const std::string_view name = nameField.required();
  if (!name.empty() && !isRoleName(name)) {
    nameField.refuse("must be a letter, then letters and digits, all lower-case, at most 16 characters");
  }
  const Field field = isRoleName(name) ? element.named(name) : element;
  model::Role role;
  role.name = name;
  role.replicas = field["replicas"].smallInteger(1, maker == PodMaker::kOthers ? 0 : 1, kMaxReplicas);
  const Field podTemplate = field["template"];
  if (!podTemplate.present()) {
    podTemplate.complain("is required");
    return role;
  }
  if (maker == PodMaker::kOperator) checkPodTemplate(podTemplate, spec.priorityClassName);
  role.grace = readGrace(podTemplate["spec"], spec.checkpoint);
  CountedNames names;
  role.shape = readPodShape(podTemplate["spec"], {}, names);
  addApartness(podTemplate["spec"], ns, names, role.shape.requests);
  if (names.leftOut() > 0) {
    podTemplate["spec"].complain(
        fmt::format("must not ask for more than {} extended resources, host ports and terms of required "
                    "anti-affinity together",
                    model::limits::kResourceNames));
  }
  podTemplate["spec"]["containers"].forEachElement(
      [&](const Field& container) { role.containers.push_back(container["name"].string()); });
  role.templateJson = podTemplate.value().minified();
  return role;
}

void readRoles(const Field& roles, std::string_view ns, JobSpec& spec, PodMaker maker) {
  roles.forEachUpTo(kMaxRoles, [&](const Field& element) {
    model::Role role = readRole(element, ns, spec, maker);
    if (spec.findRole(role.name) != nullptr) element["name"].refuse("must be used once only");
    spec.roles.push_back(std::move(role));
  });
  if (spec.roles.empty()) roles.complain("needs at least one role");
}

// Reads the samples per second of the whole job at one size. Each size is unique; the list is sorted.
void readSpeed(const Field& field, model::Elastic& elastic) {
  model::SpeedPoint point;
  point.replicas = field["replicas"].smallInteger(0, 1, kMaxReplicas);
  if (point.replicas == 0) field["replicas"].complain("is required");
  point.milliSamplesPerSecond = field["samplesPerSecond"].quantity().milli();
  if (point.milliSamplesPerSecond <= 0) return field["samplesPerSecond"].refuse("must be more than 0");
  const auto at = std::lower_bound(
      elastic.speeds.begin(), elastic.speeds.end(), point.replicas,
      [](const model::SpeedPoint& known, int replicas) { return known.replicas < replicas; });
  if (at != elastic.speeds.end() && at->replicas == point.replicas)
    return field["replicas"].refuse("must be used once only");
  elastic.speeds.insert(at, point);
}

void readElastic(const Field& field, JobSpec& spec) {
  if (!field.present()) return;
  model::Elastic elastic;
  elastic.role = field["role"].required();
  elastic.replicas = field["replicas"].smallInteger(1, 1, kMaxReplicas);
  elastic.minReplicas = field["minReplicas"].smallInteger(1, 1, kMaxReplicas);
  elastic.maxReplicas = field["maxReplicas"].smallInteger(elastic.replicas, 1, kMaxReplicas);
  if (spec.findRole(elastic.role) == nullptr) field["role"].refuse("must name a role of spec.roles");
  if (elastic.replicas < elastic.minReplicas) field["replicas"].refuse("must not be below minReplicas");
  if (elastic.replicas > elastic.maxReplicas) field["replicas"].refuse("must not be above maxReplicas");
  elastic.cooldown = seconds(field["cooldownSeconds"].smallInteger(kDefaultCooldown, 0, kMaxCooldown));
  field["speeds"].forEachUpTo(kMaxSpeeds, [&](const Field& each) { readSpeed(each, elastic); });
  spec.elastic = std::move(elastic);
}

// The address is valid with mode HTTP only, as in the schema.
void readAddress(const Field& http, model::Checkpoint& checkpoint) {
  const bool wanted = checkpoint.mode == model::CheckpointMode::kHttp;
  if (wanted && !http.present()) return http.complain("port and path are required with mode HTTP");
  if (!wanted && http.present()) return http.complain("may be given only with mode HTTP");
  if (!wanted) return;
  checkpoint.httpPort = http["port"].smallInteger(0, 1, kMaxPort);
  if (checkpoint.httpPort == 0) http["port"].complain("is required");
  checkpoint.httpPath = http["path"].required();
  if (!checkpoint.httpPath.starts_with('/')) http["path"].refuse("must begin with a slash");
}

std::optional<model::Checkpoint> readCheckpoint(const Field& field) {
  using enum model::CheckpointMode;
  static constexpr std::array<std::pair<std::string_view, model::CheckpointMode>, 5> kModes{
      {{"Signal", kSignal}, {"Launcher", kLauncher}, {"Helper", kHelper}, {"HTTP", kHttp}, {"None", kNone}}};
  if (!field.present()) return std::nullopt;
  model::Checkpoint checkpoint;
  checkpoint.mode = readEnum(field["mode"], kModes, kSignal);
  const Field grace = field["gracePeriodSeconds"];
  if (checkpoint.mode != kNone) {
    checkpoint.gracePeriod = seconds(grace.smallInteger(kDefaultGrace, 1, kMaxGrace));
  } else {
    checkpoint.gracePeriod = seconds(0);
    if (grace.present()) grace.complain("must be left out with mode None: nothing is saved at a stop");
  }
  if (const Field every = field["everySeconds"]; every.present())
    checkpoint.every = seconds(every.smallInteger(1, 1, kMaxEvery));
  checkpoint.restart = seconds(field["restartSeconds"].smallInteger(kDefaultRestart, 0, kMaxRestart));
  readAddress(field["http"], checkpoint);
  return checkpoint;
}

model::PlanRequest readPlan(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kModes{{{"Auto", true}, {"Off", false}}};
  model::PlanRequest plan;
  plan.automatic = readEnum(field["mode"], kModes, false);
  if (const Field most = field["maxGPUs"]; most.present())
    plan.maxGpus = most.smallInteger(1, 1, kMaxPlannedGpus);
  if (const Field profile = field["model"]; profile.present())
    plan.profile = std::make_shared<const model::ModelProfile>(readModelProfile(profile));
  return plan;
}

void readMemberServices(const Field& field, JobSpec& spec) {
  spec.memberServices = field.boolean(false);
  int members = spec.totalReplicas();
  if (spec.elastic) members += spec.elastic->maxReplicas - spec.elastic->replicas;
  if (spec.memberServices && members > model::limits::kMemberServices)
    field.complain(fmt::format("may be true for jobs of at most {} pods, not {}",
                               model::limits::kMemberServices, members));
}

void readGang(const Field& gang, JobSpec& spec) {
  spec.disruptionBudget = gang["disruptionBudget"].boolean(false);
  readMemberServices(gang["memberServices"], spec);
  const Field minAvailable = gang["minAvailable"];
  if (!minAvailable.present()) return;
  spec.minAvailable = minAvailable.smallInteger(1, 1);
  // The user of an automatic plan does not choose the number of pods.
  if (spec.plan.automatic) spec.minAvailable = std::min(*spec.minAvailable, spec.totalReplicas());
  if (*spec.minAvailable > spec.totalReplicas()) {
    minAvailable.refuse(fmt::format("must not exceed the job's {} pods", spec.totalReplicas()));
  }
}

model::Locality readLocality(const Field& field) {
  model::Locality locality;
  field["levels"].forEachUpTo(kMaxLevels, [&](const Field& each) {
    const Field level = each["level"];
    const bool again = std::any_of(locality.levels.begin(), locality.levels.end(),
                                   [&](const auto& earlier) { return earlier.level == level.text(); });
    if (again) level.refuse("must be used once only");
    locality.levels.push_back({std::string(level.required()), readSeconds(each["waitSeconds"])});
  });
  locality.required = field["required"].text();
  if (!locality.required.empty() && !locality.levels.empty() &&
      locality.levels.back().level != locality.required) {
    field["required"].refuse(fmt::format("must be the last, widest level of spec.locality.levels, \"{}\"",
                                         locality.levels.back().level));
  }
  return locality;
}

model::RunPolicy readRun(const Field& field) {
  using enum model::CleanPodPolicy;
  static constexpr std::array<std::pair<std::string_view, model::CleanPodPolicy>, 3> kPolicies{
      {{"Running", kRunning}, {"All", kAll}, {"None", kNone}}};
  model::RunPolicy run;
  run.suspend = field["suspend"].boolean(false);
  run.cleanPodPolicy = readEnum(field["cleanPodPolicy"], kPolicies, kRunning);
  run.ttlAfterFinished = readSeconds(field["ttlSecondsAfterFinished"]);
  run.activeDeadline = readSeconds(field["activeDeadlineSeconds"]);
  return run;
}

model::SuccessPolicy readSuccess(const Field& field, const JobSpec& spec) {
  using enum model::SuccessOperator;
  static constexpr std::array<std::pair<std::string_view, model::SuccessOperator>, 2> kOperators{
      {{"All", kAll}, {"Any", kAny}}};
  model::SuccessPolicy success;
  success.op = readEnum(field["operator"], kOperators, kAll);
  field["roles"].forEachUpTo(kMaxRoles, [&](const Field& role) {
    if (spec.findRole(role.text()) == nullptr) role.refuse("must name a role of spec.roles");
    success.roles.push_back(role.string());
  });
  return success;
}

model::HealthPolicy readHealth(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> kStallActions{
      {{"Report", false}, {"Restart", true}}};
  model::HealthPolicy health;
  health.preflight = field["preflight"].boolean(false);
  health.stall = seconds(field["stallSeconds"].smallInteger(0, 0));
  health.restartStalled = readEnum(field["stallAction"], kStallActions, false);
  return health;
}

// Reads Auto, Off or a band, which is a string or a number.
model::NetworkRequest readNetwork(const Field& field) {
  constexpr int kLastBand = 6;
  model::NetworkRequest network;
  const Field priority = field["priority"];
  if (!priority.present()) return network;
  if (priority.value().type() == JsonType::kInteger) {
    network.band = priority.smallInteger(0, 0, kLastBand);
  } else if (priority.text() == "Off") {
    network.off = true;
  } else if (priority.text() != "Auto") {
    priority.refuse("must be Auto, \"Off\" or a number from 0 to 6");
  }
  return network;
}

// Pods are named JOB-ROLE-INDEX; the name is their host name as well.
void checkPodNames(const Field& roles, const JobSpec& spec, std::string_view jobName) {
  for (const model::Role& role : spec.roles) {
    const bool elastic = spec.elastic && spec.elastic->role == role.name;
    const int last = (elastic ? spec.elastic->maxReplicas : role.replicas) - 1;
    const std::string name = model::podName(jobName, role.name, last);
    if (name.size() > kMaxHostname) {
      roles.complain(
          fmt::format("the pod {} would have a name of {} characters, {} are allowed: shorten the job's name",
                      name, name.size(), kMaxHostname));
    }
  }
}

}  // namespace

JobSpec readJobSpec(const Field& field, const model::ObjectKey& job, const model::ShapePlan* plan) {
  JobSpec spec;
  if (!field.present()) field.complain("is required");
  spec.framework = readFramework(field["framework"]);
  spec.managedBy = field["managedBy"].text();
  spec.queue = model::QueueName(field["queue"].text(model::names::kDefaultQueue));
  spec.priorityClassName = field["priorityClassName"].text();
  spec.preemptible = field["preemptible"].boolean(true);
  spec.checkpoint = readCheckpoint(field["checkpoint"]);
  readRoles(field["roles"], job.ns, spec, PodMaker::kOperator);
  readElastic(field["elastic"], spec);
  spec.plan = readPlan(field["plan"]);
  if (spec.plan.automatic && plan != nullptr) applyShapePlan(*plan, spec);
  readGang(field["gang"], spec);
  spec.schedulingTimeout = seconds(field["scheduling"]["timeoutSeconds"].smallInteger(0, 0));
  spec.locality = readLocality(field["locality"]);
  spec.estimatedDuration = readSeconds(field["estimate"]["durationSeconds"]);
  spec.run = readRun(field["run"]);
  spec.success = readSuccess(field["success"], spec);
  spec.failure = readFailure(field["failure"], spec);
  spec.health = readHealth(field["health"]);
  spec.network = readNetwork(field["network"]);
  checkPodNames(field["roles"], spec, job.name);
  checkApartness(field["roles"], job);
  countFrameworkPorts(spec);
  spec.templateHash = templateHash(field, spec);
  if (std::string less = readLateMembers(spec); !less.empty()) spec.unsupported.push_back(std::move(less));
  return spec;
}

JobSpec readGangSpec(const Field& field, const model::ObjectKey& gang) {
  JobSpec spec;
  if (!field.present()) field.complain("is required");
  spec.queue = model::QueueName(field["queue"].text(model::names::kDefaultQueue));
  spec.priorityClassName = field["priorityClassName"].text();
  spec.preemptible = field["preemptible"].boolean(true);
  readRoles(field["roles"], gang.ns, spec, PodMaker::kOthers);
  if (spec.totalReplicas() == 0) field["roles"].complain("must have at least one pod together");
  std::size_t at = 0;
  field["roles"].forEachUpTo(kMaxRoles, [&](const Field& element) {
    spec.roles[at++].groupSize = element["groupSize"].smallInteger(0, 0);
  });
  spec.schedulingTimeout = seconds(field["scheduling"]["timeoutSeconds"].smallInteger(0, 0));
  spec.locality = readLocality(field["locality"]);
  spec.estimatedDuration = readSeconds(field["estimate"]["durationSeconds"]);
  spec.run.suspend = field["hold"].boolean(false);
  spec.failure.scope = model::RestartScope::kPod;
  spec.templateHash = templateHash(field, spec);
  return spec;
}

}  // namespace trainyard::codec
