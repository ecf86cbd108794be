#include "launch/member_link.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>

namespace trainyard::launch {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{50};
constexpr std::chrono::milliseconds kLastRetry{2'000};
// If the hub does not read the output of tasks, the tasks block, as on a full pipe.
constexpr std::size_t kEnoughUnsent = 4 << 20;
constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

struct MemberLink::Running {
  std::string task;
  std::string attempt;
  pid_t pid = 0;
  int output = -1;
};

MemberLink::MemberLink(Loop& loop, Children& children, Address hub, Self self,
                       std::function<void(Membership)> onMembership)
    : loop_(loop),
      children_(children),
      hub_(std::move(hub)),
      self_(std::move(self)),
      onMembership_(std::move(onMembership)) {
  connect();
}

MemberLink::~MemberLink() {
  *alive_ = false;
  for (const auto& [id, each] : running_) {
    if (each->output < 0) continue;
    loop_.unwatch(each->output);
    ::close(each->output);
  }
}

void MemberLink::connect() {
  const int fd = connectTo(hub_.host, hub_.port);
  if (fd < 0) return lost();
  channel_ = std::make_unique<Channel>(loop_, fd, false, hub_.token);
  channel_->listen({.open =
                        [this] {
                          retry_ = kFirstRetry;
                          channel_->send({"member", {self_.role, self_.index, std::to_string(self_.slots)}});
                          if (reported_) report(*reported_);
                          if (leaving_) channel_->send({"leaving"});
                        },
                    .message = [this](const Message& message) { take(message); },
                    .closed = [this] { lost(); }});
}

void MemberLink::lost() {
  for (const auto& [id, each] : running_) {
    if (each->pid > 0) ::kill(-each->pid, SIGKILL);
  }
  loop_.after(retry_, [this, alive = alive_] {
    if (!*alive) return;
    channel_.reset();
    if (!leaving_) connect();
  });
  retry_ = std::min(2 * retry_, kLastRetry);
}

void MemberLink::report(const Membership& membership) {
  reported_ = membership;
  if (!channel_ || !channel_->isOpen()) return;
  channel_->send({"membership",
                  {std::to_string(membership.generation), membership.role, std::to_string(membership.size)}});
}

void MemberLink::receiveMembership(const Message& message) {
  Membership membership{.role = message.fields[1]};
  const auto read = [](const std::string& text, auto& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc() && number >= 0;
  };
  if (read(message.fields[0], membership.generation) && read(message.fields[2], membership.size))
    onMembership_(std::move(membership));
}

void MemberLink::take(const Message& message) {
  if (message.fields.size() < 2) return;
  if (message.kind == "membership" && message.fields.size() == 3) return receiveMembership(message);
  if (message.kind == "start") return start(message);
  const auto found = running_.find(message.fields[0] + '/' + message.fields[1]);
  if (message.kind == "end" && found != running_.end()) ::kill(-found->second->pid, SIGKILL);
}

void MemberLink::start(const Message& message) {
  const std::string& task = message.fields[0];
  const std::string& attempt = message.fields[1];
  const std::string id = task + '/' + attempt;
  if (leaving_ || message.fields.size() < 3) return channel_->send({"back", {task, attempt}});
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return channel_->send({"back", {task, attempt}});
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Command command{{message.fields.begin() + 2, message.fields.end()}, self_.environment, ends[1]};
  command.environment["TRAINYARD_TASK"] = task;
  command.environment["TRAINYARD_TASK_ATTEMPT"] = attempt;
  std::string why;
  auto running = std::make_unique<Running>(Running{task, attempt, 0, ends[0]});
  running->pid = children_.start(command, [this, id](int code) { ended(id, code); }, why);
  ::close(ends[1]);
  if (running->pid == 0) {
    ::close(ends[0]);
    constexpr const char* kNotFound = "127";
    channel_->send({"output", {task, attempt, "trainyard-launch: " + why + "\n"}});
    return channel_->send({"ended", {task, attempt, kNotFound}});
  }
  loop_.watch(ends[0], POLLIN, [this, id](short) { readOutput(id); });
  running_.emplace(id, std::move(running));
}

void MemberLink::readOutput(const std::string& id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  Running& each = *found->second;
  if (channel_ && channel_->unsent() > kEnoughUnsent) {
    const int fd = each.output;
    loop_.unwatch(fd);
    loop_.after(kLookAgain, [this, id, alive = alive_] {
      if (!*alive) return;
      const auto still = running_.find(id);
      if (still == running_.end() || still->second->output < 0) return;
      loop_.watch(still->second->output, POLLIN, [this, id](short) { readOutput(id); });
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
  if (channel_)
    channel_->send(
        {"output", {each.task, each.attempt, std::string(buffer.data(), static_cast<std::size_t>(got))}});
}

void MemberLink::ended(const std::string& id, int code) {
  // Read the rest of the output.
  for (bool more = true; more;) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    pollfd output{found->second->output, POLLIN, 0};
    const bool enough = channel_ && channel_->unsent() > kEnoughUnsent;
    more = output.fd >= 0 && !enough && ::poll(&output, 1, 0) == 1 && (output.revents & POLLIN) != 0;
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
  if (channel_) {
    // The grace of leaving is over: another member runs the task again.
    if (over_ && code == 128 + SIGKILL)
      channel_->send({"back", {each.task, each.attempt}});
    else
      channel_->send({"ended", {each.task, each.attempt, std::to_string(code)}});
  }
  running_.erase(found);
  if (leaving_ && running_.empty()) finishLeaving();
}

void MemberLink::leave(std::chrono::milliseconds grace, std::function<void()> left) {
  if (leaving_) return;
  leaving_ = true;
  left_ = std::move(left);
  if (channel_) channel_->send({"leaving"});
  if (running_.empty()) return finishLeaving();
  loop_.after(grace, [this, alive = alive_] {
    if (!*alive) return;
    over_ = true;
    for (const auto& [id, each] : running_) ::kill(-each->pid, SIGKILL);
  });
}

// Waits until the hub has the results: a task with an unsent result would run once more.
void MemberLink::finishLeaving() {
  if (channel_ && channel_->isOpen() && channel_->unsent() > 0) {
    loop_.after(kLookAgain, [this, alive = alive_] {
      if (*alive) finishLeaving();
    });
    return;
  }
  if (const auto left = std::exchange(left_, nullptr)) left();
}

}  // namespace trainyard::launch
