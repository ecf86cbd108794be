#include "kube/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace trainyard::kube {
namespace {

constexpr std::chrono::milliseconds kTick{20};
constexpr std::size_t kMaxQuotedBytes = 500;

tl::unexpected<base::Error> failed(const ChildProcess& child, std::string_view why) {
  return base::fail(base::ErrorCode::kUnavailable, fmt::format("{}: {}", child.command, why));
}

class Pipe {
 public:
  // Only the parent's end is non-blocking: programs expect an ordinary blocking output.
  Pipe() : open_(::pipe2(ends_.data(), O_CLOEXEC) == 0 && ::fcntl(ends_[0], F_SETFL, O_NONBLOCK) == 0) {}
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] bool opened() const { return open_; }
  [[nodiscard]] int readEnd() const { return ends_[0]; }
  [[nodiscard]] int writeEnd() const { return ends_[1]; }
  void closeEnd(std::size_t which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }

  // Appends the available bytes; returns false at the end of the stream.
  bool drain(std::string& into) {
    std::array<char, 4096> buffer{};
    while (true) {
      const ssize_t got = ::read(ends_[0], buffer.data(), buffer.size());
      if (got > 0) {
        into.append(buffer.data(), static_cast<std::size_t>(got));
        continue;
      }
      if (got < 0 && errno == EINTR) continue;
      return got < 0 && errno == EAGAIN;
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool open_;
};

std::vector<std::string> mergedEnvironment(const ChildProcess& child) {
  std::set<std::string, std::less<>> replaced;
  std::vector<std::string> merged;
  for (const auto& [name, value] : child.env) {
    merged.push_back(fmt::format("{}={}", name, value));
    replaced.insert(name);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!replaced.contains(text.substr(0, text.find('=')))) merged.emplace_back(text);
  }
  return merged;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int spawn(const ChildProcess& child, const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writeEnd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writeEnd(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The child gets its own process group, so that a shell script and its children are killed together.
  // Signals are reset to their defaults, because the parent may have blocked some.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> args{child.command};
  args.insert(args.end(), child.args.begin(), child.args.end());
  std::vector<std::string> env = mergedEnvironment(child);
  const int error = posix_spawnp(&pid, child.command.c_str(), &actions, &attributes, pointersTo(args).data(),
                                 pointersTo(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string tailOf(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.size() > kMaxQuotedBytes) text.remove_prefix(text.size() - kMaxQuotedBytes);
  return std::string(text);
}

void killGroup(pid_t pid) {
  ::kill(-pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

base::Result<std::string> runChild(const ChildProcess& child, const std::stop_token& stop) {
  Pipe out;
  Pipe err;
  if (!out.opened() || !err.opened()) return failed(child, "no pipe left");
  pid_t pid = -1;
  if (const int error = spawn(child, out, err, pid); error != 0) {
    return failed(
        child, fmt::format("cannot be started: {}", std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
  }
  out.closeEnd(1);
  err.closeEnd(1);

  std::string output;
  std::string complaint;
  int status = 0;
  std::chrono::milliseconds waited{0};
  for (bool exited = false; !exited; waited += kTick) {
    // The exit is checked before the last drain, so that all output of the program is read. Output of a
    // surviving child process is not waited for.
    exited = ::waitpid(pid, &status, WNOHANG) == pid;
    const bool outOpen = out.drain(output);
    const bool errOpen = err.drain(complaint);
    if (complaint.size() > 4 * kMaxQuotedBytes) complaint.erase(0, complaint.size() - 2 * kMaxQuotedBytes);
    if (exited) break;
    const bool tooLong = waited >= child.timeout;
    if (tooLong || stop.stop_requested() || output.size() > child.maxOutputBytes) {
      killGroup(pid);
      return failed(child, tooLong ? fmt::format("took longer than {} ms", child.timeout.count())
                           : stop.stop_requested() ? "stopped"
                                                   : "wrote too much");
    }
    std::array<pollfd, 2> waits{pollfd{outOpen ? out.readEnd() : -1, POLLIN, 0},
                                pollfd{errOpen ? err.readEnd() : -1, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), static_cast<int>(kTick.count()));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status));
  return failed(child, fmt::format("{}: {}", how, tailOf(complaint)));
}

}  // namespace trainyard::kube
