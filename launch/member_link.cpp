#include "launch/member_link.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "launch/sockets.h"

namespace trainyard::launch {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{50};
constexpr std::chrono::milliseconds kLastRetry{2'000};
// If the hub does not read the output of tasks, the tasks block, as on a full pipe.
constexpr std::size_t kEnoughUnsent = 4 << 20;
constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

MemberLink::MemberLink(Loop& loop, Children& children, Address hub, Self self,
                       std::function<void(Membership)> onMembership)
    : loop_(loop),
      hub_(std::move(hub)),
      self_(std::move(self)),
      onMembership_(std::move(onMembership)),
      tasks_(loop, children, self_.environment,
             {.send =
                  [this](const Message& message) {
                    if (channel_) channel_->send(message);
                  },
              .isFull = [this] { return channel_ && channel_->unsent() > kEnoughUnsent; },
              .ended =
                  [this] {
                    if (leaving_ && tasks_.empty()) finishLeaving();
                  }}) {
  connect();
}

MemberLink::~MemberLink() { *alive_ = false; }

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
  tasks_.endAll();
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
  const std::string& task = message.fields[0];
  const std::string& attempt = message.fields[1];
  if (message.kind == "end") return tasks_.end(task, attempt);
  if (message.kind != "start") return;
  if (leaving_ || message.fields.size() < 3) return channel_->send({"back", {task, attempt}});
  tasks_.start(message);
}

void MemberLink::leave(std::chrono::milliseconds grace, std::function<void()> left) {
  if (leaving_) return;
  leaving_ = true;
  left_ = std::move(left);
  if (channel_) channel_->send({"leaving"});
  if (tasks_.empty()) return finishLeaving();
  loop_.after(grace, [this, alive = alive_] {
    if (*alive) tasks_.giveUp();
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
