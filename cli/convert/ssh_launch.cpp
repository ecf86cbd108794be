#include "cli/convert/ssh_launch.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "model/framework.h"
#include "model/framework_files.h"

namespace trainyard::cli {
namespace {

constexpr const char* kHostFile = "/etc/mpi/hostfile";
constexpr const char* kDiscoverHosts = "/etc/mpi/discover_hosts.sh";

struct OwnSetting {
  const char* pattern;  // in a program
  const char* what;
};

// The operator sets variables, and every launcher prefers its flags and its files to variables.
constexpr std::array<OwnSetting, 6> kSettings{{
    {R"(plm_(rsh|ssh)_args)",
     "plm_rsh_args: it takes the place of the operator's, which name its keys and port"},
    {R"(plm_(rsh|ssh)_agent["'\s=]+(?:[^s"'\s=]|s[^s]|ss[^h]|ssh[^"'\s]))",
     "plm_rsh_agent: another program than the operator's ssh"},
    {R"((-bootstrap-exec|-launcher-exec|HYDRA_LAUNCHER_EXEC|BOOTSTRAP_EXEC)\b)",
     "an ssh of its own takes the place of the operator's, which knows its keys and port"},
    {R"(\bhorovodrun\b[^\n]*\s(-p|--ssh-port)[ =]*([013-9]|2[013-9]|22[013-9]|222[013-9]|2222\d|2{1,3}(\s|$)))",
     "horovodrun with a port: the operator's ssh servers have 2222"},
    {R"(\bhorovodrun\b[^\n]*\s(-i|--ssh-identity-file)\b)",
     "horovodrun with a key: the operator gives other keys"},
    {R"((^|[;&|(\n]|!|\b(do|then|else|until|while|if)\b)\s*(ssh|scp|pdsh|rsync)\s+[-\w$"'{])",
     "ssh by itself finds no keys: begin /etc/trainyard/mpi/ssh.sh in its place"},
}};

// A variable of the template is a setting as well.
bool sets(JobDraft& draft, const re2::RE2& expression) {
  for (const RoleDraft& role : draft.roles()) {
    Json pod = role.pod;
    bool found = false;
    forEachContainer(pod, [&](Json& container) {
      for (const Json& each : listOf(get(container, "env"))) {
        const std::string name = textOf(get(each, "name"));
        if (!role.overwritten.contains(name)) found = found || re2::RE2::PartialMatch(name, expression);
      }
    });
    if (found) return true;
  }
  return false;
}

}  // namespace

bool launchesOverSsh(std::string_view framework) {
  const auto known = model::frameworkNamed(framework);
  return known && model::traitsOf(*known).launchesOverSsh;
}

void moveHostFile(JobDraft& draft, const std::string& implementation) {
  const bool hydra = implementation == "Intel" || implementation == "IntelMPI" || implementation == "MPICH";
  const std::string hosts = fmt::format("{}/{}", model::files::kFolder,
                                        hydra ? model::files::kHydraHosts : model::files::kHostfile);
  const std::string script = fmt::format("{}/{}", model::files::kFolder, model::files::kDiscoverHosts);
  for (const auto& [was, is] : {std::pair{std::string_view(kHostFile), hosts}, {kDiscoverHosts, script}}) {
    bool found = false;
    for (RoleDraft& role : draft.roles())
      forEachText(role.pod, [&, &path = was, &now = is](std::string& text) {
        for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + now.size())) {
          text.replace(at, path.size(), now);
          found = true;
        }
      });
    if (found)
      draft.notes().kept(fmt::format("{} is {}: texts of the templates that name it are rewritten", was, is));
  }
  if (draft.mentions(R"(/etc/mpi\b)"))
    draft.notes().cannotWork(
        fmt::format("a program reads /etc/mpi, which is not there: write {} in its place", hosts));
}

void dropServerCommand(Json& container, const std::string& what, JobDraft& draft) {
  const std::string program = get(container, "command").dump() + get(container, "args").dump();
  const bool any = !get(container, "command").is_null() || !get(container, "args").is_null();
  if (any && program.find("sshd") == std::string::npos)
    draft.notes().changed(fmt::format("{} is left out: the operator starts sshd there", what));
  for (const char* key : {"command", "args"}) container.erase(key);
}

void noteOwnSsh(JobDraft& draft) {
  for (const OwnSetting& each : kSettings) {
    const re2::RE2 expression(each.pattern);
    if (draft.mentions(each.pattern) || sets(draft, expression)) draft.notes().cannotWork(each.what);
  }
  if (draft.mentions(R"(\.ssh\b)"))
    draft.notes().cannotWork(
        "a program reads a folder .ssh: the keys are not there; `ssh` finds them by "
        "/etc/trainyard/mpi/ssh.sh");
}

}  // namespace trainyard::cli
