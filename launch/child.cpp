#include "launch/child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>

namespace trainyard::launch {

int codeOf(int waitStatus) {
  constexpr int kSignal = 128;
  return WIFSIGNALED(waitStatus) ? kSignal + WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

// posix_spawn, not fork: a member with a hundred slots starts a hundred tasks a second, and posix_spawn
// copies no page tables.
pid_t Children::start(const Command& command, Ended ended, std::string& why) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + '=' + value);
  std::vector<char*> environment;
  for (std::string& each : variables) environment.push_back(each.data());
  environment.push_back(nullptr);
  std::vector<std::string> words = command.words;
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (command.output >= 0) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&files, command.output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, command.output, STDERR_FILENO);
  }
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    why = command.words.front() + ": " + std::strerror(error);
    return 0;
  }
  running_[pid] = std::move(ended);
  return pid;
}

void Children::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
    const auto found = running_.find(pid);
    if (found == running_.end()) continue;
    const Ended ended = std::move(found->second);
    running_.erase(found);
    ended(codeOf(status));
  }
}

// A process in a session of its own becomes our child only after its parent has ended: look repeatedly.
void Children::killLeftovers(pid_t group) {
  constexpr int kMaxLooks = 100;
  constexpr useconds_t kBetween = 5'000;
  ::kill(-group, SIGKILL);
  for (int looks = 0; looks < kMaxLooks && killOrphans(); ++looks) ::usleep(kBetween);
}

bool Children::killOrphans() {
  bool any = false;
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t pid = 0; children >> pid;) {
    if (running_.contains(pid) || running_.contains(::getpgid(pid))) continue;
    any = true;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, WNOHANG);
  }
  return any;
}

}  // namespace trainyard::launch
