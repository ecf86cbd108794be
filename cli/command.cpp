#include "cli/command.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/json_text.h"
#include "cli/plain_text.h"
#include "cli/table.h"
#include "kube/paths.h"
#include "model/gang_name.h"

namespace trainyard::cli {
namespace {

// The output changes with cycles and kubelets, which take a second. (Rejected: a watch for each type of
// object in a table, which would be a program of its own.)
constexpr std::chrono::seconds kLook{2};

}  // namespace

void addConnectFlags(CLI::App* command, ConnectFlags& flags) {
  command->add_option("--kubeconfig", flags.kubeconfig, "kubeconfig file");
  command->add_option("--context", flags.context, "context of it, instead of the current one");
  command->add_option("--as", flags.as, "user to impersonate");
}

void addNamespaceFlag(CLI::App* command, std::string& ns) {
  command->add_option("-n,--namespace", ns, "namespace; without it that of the context");
}

void addIgnoredNamespaceFlag(CLI::App* command) {
  command->add_option("-n,--namespace", "ignored: these objects are not namespaced")->group("");
}

void addOutputFlag(CLI::App* command, std::string& output) {
  command->add_option("-o,--output", output, "table, json, yaml or name")
      ->check(CLI::IsMember({"table", "json", "yaml", "name"}));
}

base::Result<std::string> shownAs(const std::string& output, std::string_view kind,
                                  base::Result<std::string> text) {
  if (!text || output == "table" || output == "json") return text;
  return output == "yaml" ? yamlOfJson(*text) : namesOfJson(*text, kind);
}

int printResult(const std::string& program, const base::Result<std::string>& text) {
  if (!text) {
    fmt::print(stderr, "{}: {}\n", program, plainText(text.error().message, true));
    return 1;
  }
  fmt::print("{}", plainText(*text, true));
  return 0;
}

bool mayPass(base::ErrorCode code) {
  return code == base::ErrorCode::kUnavailable || code == base::ErrorCode::kOutcomeUnknown ||
         code == base::ErrorCode::kThrottled;
}

namespace {

std::string separator(const Watch& watch) {
  if (::isatty(STDOUT_FILENO) != 0) return "\033[H\033[2J";
  if (!watch.table) return "";
  const auto now = std::chrono::time_point_cast<base::WallTime::duration>(std::chrono::system_clock::now());
  return fmt::format("\n{}\n", base::formatTime(now));
}

}  // namespace

int printWhile(const Watch& watch, const std::string& program,
               const std::function<base::Result<std::string>()>& look) {
  const auto first = look();
  if (!watch.on || !first) return printResult(program, first);
  std::string last;
  bool away = false;
  for (auto text = first;; text = look()) {
    if (!text && !mayPass(text.error().code)) return printResult(program, text);
    if (!text && !away)
      fmt::print(stderr, "{}: {}; trying again\n", program, plainText(text.error().message, true));
    away = !text;
    if (text && withoutAges(*text) != last) {
      fmt::print("{}{}", last.empty() ? "" : separator(watch), plainText(*text, true));
      std::fflush(stdout);
      last = withoutAges(*text);
    }
    std::this_thread::sleep_for(kLook);
  }
}

base::Result<model::ObjectKey> parseJobName(const std::string& text, const std::string& ns,
                                            const std::string& fromContext) {
  const auto slash = text.find('/');
  model::ObjectKey key{ns.empty() ? fromContext : ns, text};
  if (slash != std::string::npos) key = {text.substr(0, slash), text.substr(slash + 1)};
  if (key.ns.empty() || key.name.empty() || key.name.find('/') != std::string::npos) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("\"{}\" is not a job: write NAME or NAMESPACE/NAME", text));
  }
  return key;
}

base::Error explainRefusal(const base::Error& error, const std::string& what, const ClusterClient& client) {
  if (error.code != base::ErrorCode::kNotFound)
    return {error.code, fmt::format("{} ({})", error.message, client.source())};
  if (error.message.find("could not find the requested resource") != std::string::npos ||
      error.message.find("page not found") != std::string::npos) {
    return {error.code, fmt::format("this cluster has no TrainingJobs: are Trainyard's CRDs installed? ({})",
                                    client.source())};
  }
  return {error.code, fmt::format("{} not found ({})", what, client.source())};
}

base::Result<std::string> readJobBody(ClusterClient& client, const model::ObjectKey& key) {
  const bool isGang = model::isGangName(key.name);
  auto body = client.read((isGang ? kube::kGangs : kube::kTrainingJobs).object(key.ns, key.name), {});
  if (!body) {
    const std::string what = fmt::format("{} {}", isGang ? "Gang" : "TrainingJob", key);
    return base::fail(explainRefusal(body.error(), what, client));
  }
  return body;
}

}  // namespace trainyard::cli
