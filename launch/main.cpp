#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "launch/supervisor.h"
#include "launch/task_client.h"

namespace {

namespace launch = trainyard::launch;

constexpr int kUsage = 2;

constexpr const char* kHelp = R"(trainyard-launch: process 1 of a member, and the job's own tasks.

  trainyard-launch exec -- COMMAND...   run it; at a new size end it and start it again, in the same pod
  trainyard-launch install FOLDER       copy this program there

From inside of a member:
  trainyard-launch run COMMAND...       run a task on a free slot of any member; its output and exit code are ours
  trainyard-launch submit COMMAND...    the same without waiting: prints its number
  trainyard-launch wait TASK...         until they have ended; a line for each
  trainyard-launch output TASK...       their output (the last 64 KiB), until they have ended
  trainyard-launch cancel TASK...
  trainyard-launch tasks                all of them
  trainyard-launch batch                each line of the input is a task for /bin/sh
)";

int fail(const std::string& what) {
  std::fprintf(stderr, "trainyard-launch: %s: %s\n", what.c_str(), std::strerror(errno));
  return 1;
}

// Writes under a temporary name first: a container that starts meanwhile finds the whole file or none.
int install(const std::string& folder) {
  const std::string target = folder + "/trainyard-launch";
  const std::string partial = target + ".new";
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (from < 0) return fail("/proc/self/exe");
  const int to = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  if (to < 0) return fail(partial);
  std::array<char, 65'536> buffer{};
  ssize_t got = 0;
  while ((got = ::read(from, buffer.data(), buffer.size())) > 0) {
    if (::write(to, buffer.data(), static_cast<std::size_t>(got)) != got) return fail(partial);
  }
  if (got < 0 || ::fchmod(to, 0755) != 0 || ::close(to) != 0) return fail(partial);
  ::close(from);
  return ::rename(partial.c_str(), target.c_str()) == 0 ? 0 : fail(target);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string verb = words.empty() ? "help" : words.front();
  if (!words.empty()) words.erase(words.begin());
  const std::set<std::string> tasks{"run", "submit", "wait", "output", "cancel", "tasks", "batch"};
  if (verb == "--version") {
    std::puts("trainyard-launch " TRAINYARD_VERSION);
    return 0;
  }
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (verb == "exec" && !words.empty()) {
    const launch::Environment environment = launch::ownEnvironment();
    return launch::Supervisor(launch::supervisorOptions(environment, words)).run();
  }
  if (verb == "install" && words.size() == 1) return install(words.front());
  if (tasks.contains(verb)) {
    const int code = launch::runTaskCommand(verb, words, launch::ownEnvironment());
    if (code != kUsage || verb == "run" || verb == "wait") return code;
  }
  std::fputs(kHelp, stderr);
  return verb == "help" || verb == "--help" ? 0 : kUsage;
}
