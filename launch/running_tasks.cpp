#include "launch/running_tasks.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <utility>

namespace trainyard::launch {
namespace {

constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

struct RunningTasks::Running {
  std::string task;
  std::string attempt;
  pid_t pid = 0;
  int output = -1;
};

RunningTasks::RunningTasks(Loop& loop, Children& children, Environment environment, Outlet outlet)
    : loop_(loop), children_(children), environment_(std::move(environment)), outlet_(std::move(outlet)) {}

RunningTasks::~RunningTasks() {
  *alive_ = false;
  for (const auto& [id, each] : running_) {
    if (each->output < 0) continue;
    loop_.unwatch(each->output);
    ::close(each->output);
  }
}

void RunningTasks::endAll() {
  for (const auto& [id, each] : running_) {
    if (each->pid > 0) ::kill(-each->pid, SIGKILL);
  }
}

void RunningTasks::giveUp() {
  over_ = true;
  endAll();
}

void RunningTasks::end(const std::string& task, const std::string& attempt) {
  const auto found = running_.find(task + '/' + attempt);
  if (found != running_.end()) ::kill(-found->second->pid, SIGKILL);
}

void RunningTasks::start(const Message& message) {
  const std::string& task = message.fields[0];
  const std::string& attempt = message.fields[1];
  const std::string id = task + '/' + attempt;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return outlet_.send({"back", {task, attempt}});
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Command command{{message.fields.begin() + 2, message.fields.end()}, environment_, ends[1]};
  command.environment["TRAINYARD_TASK"] = task;
  command.environment["TRAINYARD_TASK_ATTEMPT"] = attempt;
  std::string why;
  auto running = std::make_unique<Running>(Running{task, attempt, 0, ends[0]});
  running->pid = children_.start(command, [this, id](int code) { ended(id, code); }, why);
  ::close(ends[1]);
  if (running->pid == 0) {
    ::close(ends[0]);
    constexpr const char* kNotFound = "127";
    outlet_.send({"output", {task, attempt, "trainyard-launch: " + why + "\n"}});
    return outlet_.send({"ended", {task, attempt, kNotFound}});
  }
  watchOutput(id, ends[0]);
  running_.emplace(id, std::move(running));
}

void RunningTasks::watchOutput(const std::string& id, int output) {
  loop_.watch(output, POLLIN, [this, id](short) { readOutput(id); });
}

void RunningTasks::readOutput(const std::string& id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  Running& each = *found->second;
  if (outlet_.isFull()) {
    const int fd = each.output;
    loop_.unwatch(fd);
    loop_.after(kLookAgain, [this, id, alive = alive_] {
      if (!*alive) return;
      const auto still = running_.find(id);
      if (still == running_.end() || still->second->output < 0) return;
      watchOutput(id, still->second->output);
    });
    return;
  }
  std::array<char, 32'768> buffer{};
  const ssize_t got = ::read(each.output, buffer.data(), buffer.size());
  if (got < 0) return;
  if (got == 0) {
    loop_.unwatch(each.output);
    ::close(std::exchange(each.output, -1));
    return;
  }
  outlet_.send(
      {"output", {each.task, each.attempt, std::string(buffer.data(), static_cast<std::size_t>(got))}});
}

void RunningTasks::ended(const std::string& id, int code) {
  // Read the rest of the output.
  for (bool more = true; more;) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    pollfd output{found->second->output, POLLIN, 0};
    more =
        output.fd >= 0 && !outlet_.isFull() && ::poll(&output, 1, 0) == 1 && (output.revents & POLLIN) != 0;
    if (more) readOutput(id);
  }
  const auto found = running_.find(id);
  Running& each = *found->second;
  // Kill what the task left behind in its process group.
  ::kill(-each.pid, SIGKILL);
  if (each.output >= 0) {
    loop_.unwatch(each.output);
    ::close(each.output);
  }
  // The grace of leaving is over: another member runs the task again.
  if (over_ && code == 128 + SIGKILL)
    outlet_.send({"back", {each.task, each.attempt}});
  else
    outlet_.send({"ended", {each.task, each.attempt, std::to_string(code)}});
  running_.erase(found);
  outlet_.ended();
}

}  // namespace trainyard::launch
