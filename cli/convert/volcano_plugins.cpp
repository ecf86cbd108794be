#include "cli/convert/volcano_plugins.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "model/process_group.h"

namespace trainyard::cli {
namespace {

const std::string kSshLauncher(model::kLauncherRole);
constexpr const char* kFolder = "/etc/volcano";
constexpr const char* kTensorFlowPort = "2222";
constexpr std::int64_t kMaxHosts = 1000;

struct PluginFact {
  std::string_view name;
  std::string_view framework;  // empty: the plug-in sets none
  std::string_view port;       // MASTER_PORT if no argument sets it
  // Roles of its process group, and the variables that it sets after the template's; each between spaces.
  std::string_view group = {};
  std::string_view variables = {};
};

constexpr std::array<PluginFact, 7> kPlugins{
    {{"pytorch", "PyTorch", "23456", " master worker ", " MASTER_ADDR MASTER_PORT WORLD_SIZE RANK "},
     {"tensorflow", "TensorFlow", "", " ps worker chief evaluator ", " TF_CONFIG "},
     {"mpi", "MPI", "", " launcher worker ", " MPI_HOST "},
     {"jax", "JAX", "", " master coordinator worker ",
      " JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID "},
     {"svc", "", ""},
     {"env", "", ""},
     {"ssh", "", ""}}};

std::string programOf(const Json& podTemplate) {
  Json pod = podTemplate;
  std::string all;
  forEachText(pod, [&](std::string& text) { all += text + "\n"; });
  return all;
}

bool startsProcesses(const std::string& program) {
  static const re2::RE2 kLaunch(R"(\b(mpirun|mpiexec|orterun|prterun|horovodrun)\b)");
  return re2::RE2::PartialMatch(program, kLaunch);
}

// The names must be the same as in model/process_group.cpp.
bool isOutside(const std::string& role) {
  return role == "ps" || role == "scheduler" || role == "server" || role == kSshLauncher ||
         role == "evaluator";
}

bool servesSsh(const std::string& program) { return program.find("sshd") != std::string::npos; }

}  // namespace

VolcanoPlugins::VolcanoPlugins(const Json& plugins, const std::vector<VolcanoTask>& tasks, JobDraft& draft)
    : plugins_(plugins), draft_(draft), notes_(draft.notes()) {
  if (!plugins_.is_object()) return;
  for (const PluginFact& fact : kPlugins) {
    if (!has(std::string(fact.name).c_str()) || fact.framework.empty() || framework_ != "Custom") continue;
    framework_ = fact.framework;
    group_ = fact.group;
    variables_ = fact.variables;
    port_ = fact.port;
  }
  for (const auto& [plugin, arguments] : plugins_.items()) readArguments(plugin, arguments);
  if (framework_ == "Custom" && has("ssh")) findSshJob(tasks);
  if (has("mpi")) {
    for (const auto& [task, role] :
         {std::pair{"master", kSshLauncher}, std::pair{"worker", std::string("worker")}}) {
      const bool given = std::any_of(roleOfTask_.begin(), roleOfTask_.end(),
                                     [&, &wanted = role](const auto& each) { return each.second == wanted; });
      if (!given) roleOfTask_.try_emplace(task, role);
    }
  }
  // The operator would rank a role of that name before the workers.
  if (has("pytorch")) draft_.roles().keepName("chief");
  // No other task may take these roles.
  for (const auto& [task, role] : roleOfTask_) draft_.roles().keepName(role);
}

// The arguments name the tasks with a special part; Trainyard has fixed role names for these parts.
void VolcanoPlugins::readArguments(const std::string& plugin, const Json& arguments) {
  const bool known = std::any_of(kPlugins.begin(), kPlugins.end(),
                                 [&](const PluginFact& each) { return each.name == plugin; });
  if (!known) return notes_.cannotWork(fmt::format("plugin {}: not carried over", plugin));
  for (const Json& each : listOf(arguments)) {
    static const re2::RE2 kTask("--(master|worker|chief|ps|evaluator)=(.+)");
    static const re2::RE2 kPort("--port=([0-9]{1,5})");
    const std::string text = textOf(each);
    std::string part;
    std::string value;
    if (re2::RE2::FullMatch(text, kTask, &part, &value)) {
      roleOfTask_[value] = plugin == "mpi" && part == "master" ? kSshLauncher : part;
    } else if (plugin == "pytorch" && re2::RE2::FullMatch(text, kPort, &value)) {
      port_ = value;
      notes_.kept(fmt::format("plugin pytorch: {}: variable MASTER_PORT", text));
    } else if (plugin == "tensorflow" && re2::RE2::FullMatch(text, kPort, &value)) {
      if (value != kTensorFlowPort)
        notes_.changed(fmt::format("plugin tensorflow: {}: the addresses of TF_CONFIG have port {}", text,
                                   kTensorFlowPort));
    } else if (plugin == "svc" && text.find("publish-not-ready-addresses") != std::string::npos) {
      continue;  // names resolve before a pod is ready in any case
    } else if (plugin == "svc" && text.find("disable-network-policy") != std::string::npos) {
      networkPolicy_ = text.ends_with("=false");
    } else if (plugin == "mpi" && text.starts_with("--port=")) {
      notes_.kept(fmt::format("plugin mpi: {}: the operator's ssh servers and clients use 2222", text));
    } else {
      notes_.lost(fmt::format("plugin {}: {}: not carried over", plugin, text));
    }
  }
}

// Detects the usual MPI job without the mpi plug-in: one task runs sshd, another one runs mpirun.
void VolcanoPlugins::findSshJob(const std::vector<VolcanoTask>& tasks) {
  if (tasks.size() != 2) return;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Json& launcher = tasks[i].task;
    const Json& server = tasks[1 - i].task;
    const std::string program = programOf(get(launcher, "template"));
    const std::string other = programOf(get(server, "template"));
    const bool one = get(launcher, "replicas").is_null() || get(launcher, "replicas") == 1;
    if (!one || !startsProcesses(program) || startsProcesses(other) || !servesSsh(other)) continue;
    framework_ = program.find("horovodrun") != std::string::npos ? "Horovod" : "MPI";
    roleOfTask_[tasks[i].name] = kSshLauncher;
    roleOfTask_[tasks[1 - i].name] = "worker";
    notes_.kept(
        fmt::format("plugin ssh: framework {}: the operator gives keys and starts the workers' ssh servers "
                    "(docs/frameworks.md)",
                    framework_));
    return;
  }
}

std::string VolcanoPlugins::roleOf(const std::string& task) const {
  const auto found = roleOfTask_.find(task);
  return found == roleOfTask_.end() ? task : found->second;
}

void VolcanoPlugins::prepare(const VolcanoTask& task, Json& pod) {
  const auto found = roleOfTask_.find(task.name);
  if (found == roleOfTask_.end()) return;
  draft_.roles().giveName(found->second);
  if (overSsh() && found->second == "worker") dropSshServer(pod);
}

void VolcanoPlugins::dropSshServer(Json& pod) {
  const Json containers = listOf(get(pod, "spec", "containers"));
  if (containers.empty()) return;
  const auto serves = [](const Json& container) {
    return servesSsh(get(container, "command").dump() + get(container, "args").dump());
  };
  if (!serves(containers[0])) {
    if (std::any_of(containers.begin(), containers.end(), serves))
      notes_.cannotWork(
          "role worker: the operator has sshd started by the first container, not by another one");
    return;
  }
  const std::string words = get(containers[0], "command").dump() + get(containers[0], "args").dump();
  static const re2::RE2 kMore(
      R"((;|&&|\|\||\\n)\s*(python|bash|sh|\./|source|export|cp|tar|wget|curl|git)\b)");
  if (re2::RE2::PartialMatch(words, kMore))
    notes_.changed("role worker: its command, which began sshd, does more than that and is left out whole");
  for (const char* key : {"command", "args"}) pod["spec"]["containers"][0].erase(key);
  notes_.kept("role worker: its command, which began sshd, is left out: the operator has it started");
}

void VolcanoPlugins::added(const VolcanoTask& task, const std::string& role) {
  merged_[role] = task.merged > 0;
  const std::int64_t count = countOf(draft_.roles().find(role)->replicas);
  if (task.merged == 0) {
    hosts_.push_back({task.name, role, 0, count});
    return;
  }
  for (int i = 0; i < task.merged; ++i) hosts_.push_back({fmt::format("{}-{}", task.name, i), role, i, 1});
}

std::string VolcanoPlugins::hostList(const Hosts& hosts, const char* separator) const {
  std::string list;
  for (std::int64_t i = 0; i < hosts.count; ++i)
    list += (list.empty() ? "" : separator) + draft_.hostOf(hosts.role, hosts.first + i);
  return list;
}

void VolcanoPlugins::write() {
  writePorts();
  if (has("env")) writeIndexes();
  if (has("svc")) writeHosts();
  if (overSsh()) {
    RoleDraft* launcher = draft_.roles().find(kSshLauncher);
    const auto workers =
        std::find_if(hosts_.begin(), hosts_.end(), [](const Hosts& each) { return each.role == "worker"; });
    if (launcher != nullptr && workers != hosts_.end() && workers->count <= kMaxHosts)
      launcher->variables.emplace_back("MPI_HOST", hostList(*workers, ","));
  }
  writeGroup();
  markOverwritten();
  noteKeys();
  noteUnset();
}

// The operator counts all roles except servers, launchers and evaluators; the plug-in counts its own roles.
void VolcanoPlugins::writeGroup() {
  if (group_.empty()) return;
  std::string others;
  std::int64_t size = 0;
  for (const RoleDraft& role : draft_.roles()) {
    if (group_.find(fmt::format(" {} ", role.name)) != std::string::npos)
      size += countOf(role.replicas);
    else if (!isOutside(role.name))
      others += (others.empty() ? "" : ", ") + role.name;
  }
  if (others.empty()) return;
  if (framework_ != "PyTorch" || size == 0 || !draft_.roles().sizesKnown())
    return notes_.cannotWork(fmt::format(
        "role {}: no part of the process group in Volcano, and counted here by framework {}: make it a job "
        "of its own",
        others, framework_));
  for (RoleDraft& role : draft_.roles()) {
    for (const char* name : {"WORLD_SIZE", "PET_NNODES"})
      role.variables.emplace_back(name, std::to_string(size));
  }
  notes_.kept(fmt::format("role {}: no part of the process group: WORLD_SIZE and PET_NNODES are {}, as there",
                          others, size));
}

// Plug-ins append their variables to the template's.
void VolcanoPlugins::markOverwritten() {
  for (RoleDraft& role : draft_.roles()) {
    const auto takes = [&](const std::string& name) {
      return name.starts_with("VC_") || name.starts_with("VK_") ||
             variables_.find(fmt::format(" {} ", name)) != std::string::npos;
    };
    for (const auto& [name, value] : role.variables) {
      if (takes(name)) role.overwritten.insert(name);
    }
    for (const char* name : {"MASTER_ADDR", "WORLD_SIZE", "RANK", "TF_CONFIG", "JAX_COORDINATOR_ADDRESS",
                             "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"}) {
      if (takes(name)) role.overwritten.insert(name);
    }
  }
}

void VolcanoPlugins::writePorts() {
  if (port_.empty()) return;
  for (RoleDraft& role : draft_.roles()) {
    role.variables.emplace_back("MASTER_PORT", port_);
    role.variables.emplace_back("PET_MASTER_PORT", port_);
  }
}

void VolcanoPlugins::writeIndexes() {
  for (RoleDraft& role : draft_.roles()) {
    for (const char* name : {"VC_TASK_INDEX", "VK_TASK_INDEX"})
      role.variables.emplace_back(name, merged_[role.name] ? "0" : "$(TRAINYARD_INDEX)");
  }
  notes_.kept("plugin env: variables VC_TASK_INDEX and VK_TASK_INDEX");
}

void VolcanoPlugins::writeHosts() {
  if (networkPolicy_)
    notes_.changed(
        "plugin svc: no NetworkPolicy keeps others from the job's pods; write one that selects "
        "trainyard.dev/job-name");
  const bool tooMany = draft_.roles().members() > kMaxHosts;
  if (tooMany || !draft_.roles().sizesKnown()) {
    const std::string why =
        tooMany ? fmt::format("of {} members", draft_.roles().members()) : "of an unknown size";
    if (draft_.mentions(R"(VC_\w+_(HOSTS|NUM)|/etc/volcano)"))
      notes_.cannotWork(
          fmt::format("plugin svc: lists of hosts are not written for a job {}: "
                      "$TRAINYARD_JOB-ROLE-INDEX.$TRAINYARD_DOMAIN names each",
                      why));
    return;
  }
  for (RoleDraft& role : draft_.roles()) {
    for (const Hosts& each : hosts_) {
      role.variables.emplace_back(variablePrefixOf(each.task) + "_HOSTS", hostList(each, ","));
      role.variables.emplace_back(variablePrefixOf(each.task) + "_NUM", std::to_string(each.count));
      if (merged_[role.name] && each.first == 0 && each.role == role.name &&
          draft_.mentions("TORCHX_RANK0_HOST"))
        role.variables.emplace_back("TORCHX_RANK0_HOST", draft_.hostOf(role.name, 0));
    }
  }
  notes_.kept("plugin svc: variables VC_TASK_HOSTS and VC_TASK_NUM of every task");
  writeHostFiles();
}

void VolcanoPlugins::writeHostFiles() {
  if (!draft_.mentions(kFolder)) return;
  if (draft_.name().empty())
    return notes_.cannotWork(fmt::format(
        "plugin svc: {} needs a ConfigMap, and the job's name is not known: give it one", kFolder));
  Json map = Json::object();
  map["apiVersion"] = "v1";
  map["kind"] = "ConfigMap";
  const std::string name = draft_.name() + "-hosts";
  map["metadata"]["name"] = name;
  for (const Hosts& each : hosts_) map["data"][each.task + ".host"] = hostList(each, "\n") + "\n";
  draft_.addObject(std::move(map));
  Json volume = Json::object();
  volume["name"] = "volcano-hosts";
  volume["configMap"]["name"] = name;
  Json patch = Json::object();
  patch["spec"]["volumes"] = Json::array({std::move(volume)});
  Json mount = Json::object();
  mount["name"] = "volcano-hosts";
  mount["mountPath"] = kFolder;
  for (RoleDraft& role : draft_.roles()) {
    mergeInto(role.pod, patch);
    forEachContainer(role.pod, [&](Json& container) {
      Json mounts = listOf(get(container, "volumeMounts"));
      mounts.push_back(mount);
      container["volumeMounts"] = std::move(mounts);
    });
  }
  notes_.kept(fmt::format("plugin svc: ConfigMap {} has the files of {}", name, kFolder));
}

void VolcanoPlugins::noteKeys() {
  if (!has("ssh")) return;
  if (!overSsh())
    notes_.cannotWork(
        "plugin ssh: members are given keys with framework MPI or Horovod only: choose one of them, or bring "
        "a "
        "Secret of yours");
}

// Notes variables of Volcano that a program refers to and that nothing sets.
void VolcanoPlugins::noteUnset() {
  static const re2::RE2 kVariable(R"(\b(V[CK]_[A-Z0-9_]+|MPI_HOST)\b)");
  std::set<std::string> unset;
  for (const RoleDraft& role : draft_.roles()) {
    std::set<std::string> set;
    for (const auto& [name, value] : role.variables) set.insert(name);
    const std::string program = programOf(role.pod);
    re2::StringPiece rest(program);
    std::string name;
    while (re2::RE2::FindAndConsume(&rest, kVariable, &name)) {
      if (!set.contains(name) && !variableOf(role.pod, name)) unset.insert(name);
    }
  }
  for (const std::string& name : unset)
    notes_.cannotWork(fmt::format("variable {}: a program refers to it, and nothing sets it", name));
}

}  // namespace trainyard::cli
