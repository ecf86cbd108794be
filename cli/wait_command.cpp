#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "codec/job.h"

namespace trainyard::cli {
namespace {

constexpr int kOtherwise = 1;
constexpr int kTooLate = 3;
constexpr std::chrono::seconds kWaitCheck{1};

struct WaitFlags {
  ConnectFlags connect;
  std::string ns;
  std::string job;
  std::string until = "Finished";
  int timeoutSeconds = 0;
};

bool reached(const model::Job& job, const std::string& until) {
  return job.status.phase == until || job.conditionTrue(until);
}

int wait(const WaitFlags& flags, const std::string& program) {
  const auto fail = [&](const base::Error& error) { return printResult(program, base::fail(error)); };
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return fail(client.error());
  const auto key = parseJobName(flags.job, flags.ns, (*client)->ns());
  if (!key) return fail(key.error());
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const auto body = readJobBody(**client, *key);
    // A transient error must not end a wait of hours; a permanent one does.
    if (!body && !mayPass(body.error().code)) return fail(body.error());
    if (body) {
      const auto job = codec::decodeJobOrGang(*body);
      if (!job) return fail(job.error());
      if (reached(*job, flags.until)) {
        fmt::print("{} is {}\n", *key, flags.until);
        return 0;
      }
      if (job->finished()) {
        fmt::print(stderr, "{}: {} ended as {} and will not be {}\n", program, *key, job->status.phase,
                   flags.until);
        return kOtherwise;
      }
    }
    const auto spent = std::chrono::steady_clock::now() - begin;
    if (flags.timeoutSeconds > 0 && spent >= std::chrono::seconds(flags.timeoutSeconds)) {
      fmt::print(stderr, "{}: {} is not {} after {} s\n", program, *key, flags.until, flags.timeoutSeconds);
      return kTooLate;
    }
    std::this_thread::sleep_for(kWaitCheck);
  }
}

}  // namespace

void addWaitCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<WaitFlags>();
  CLI::App* command = app.add_subcommand("wait", "until a job has ended, or is in a phase or condition");
  command->add_option("JOB", flags->job, "NAME or NAMESPACE/NAME")->required();
  command->add_option("--for", flags->until, "the phase or condition (Finished)")
      ->check(CLI::IsMember({"Pending", "Admitted", "Queued", "NodesRequested", "Scheduled", "Starting",
                             "Running", "Ready", "Resizing", "Restarting", "Suspended", "Stalled",
                             "Succeeded", "Failed", "Finished"}));
  command->add_option("--timeout", flags->timeoutSeconds, "seconds (0: without end)")
      ->check(CLI::Range(0, 1'000'000'000));
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] { run([flags, program] { return wait(*flags, program); }); });
}

}  // namespace trainyard::cli
