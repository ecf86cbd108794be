#include "launch/hub.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

namespace trainyard::launch {
namespace {

std::uint64_t numberOf(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

constexpr std::size_t kMaxSlots = 4'096;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

}  // namespace

struct Hub::Task {
  Id id = 0;
  std::vector<std::string> words;
  std::string state = "waiting";  // waiting, running, done, cancelled
  std::string code;
  std::uint64_t attempt = 0;
  Peer* member = nullptr;
  bool cancelled = false;
  std::string output;
  std::set<Peer*> followers = {};  // receive output and the result
  std::set<Peer*> waiters = {};    // receive the result
};

struct Hub::Peer {
  std::unique_ptr<Channel> channel;
  std::string name;  // "worker 3"; empty: a client
  std::size_t slots = 0;
  bool known = false;  // has proved that it holds the token
  bool leaving = false;
  std::set<Id> running = {};
  std::set<Id> asks = {};  // tasks that it follows or waits for
};

Hub::Hub(Loop& loop, int listener, std::string token)
    : loop_(loop), listener_(listener), token_(std::move(token)) {
  loop_.watch(listener_, POLLIN, [this](short) { accept(); });
}

Hub::~Hub() {
  if (pause_) loop_.cancel(*pause_);
  loop_.unwatch(listener_);
  ::close(listener_);
}

void Hub::accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    // Without free descriptors the listener stays ready: a busy loop would starve process 1.
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    loop_.unwatch(listener_);
    pause_ = loop_.after(kPauseWithoutDescriptors, [this] {
      pause_.reset();
      loop_.watch(listener_, POLLIN, [this](short) { accept(); });
    });
    return;
  }
  dropOldestUnauthenticated();
  if (peers_.size() >= kMaxPeers) {
    ::close(fd);
    return;
  }
  Peer& peer = *peers_.emplace_back(std::make_unique<Peer>());
  peer.channel = std::make_unique<Channel>(loop_, fd, true, token_);
  peer.channel->listen({.open = [&peer] { peer.known = true; },
                        .message = [this, &peer](const Message& message) { take(peer, message); },
                        .closed = [this, &peer] { lost(peer); }});
}

// Any pod in the cluster can connect and send nothing. Connections that have not proved the token are limited
// to their part of the descriptors.
void Hub::dropOldestUnauthenticated() {
  const auto isUnauthenticated = [](const auto& peer) { return !peer->known; };
  if (static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), isUnauthenticated)) <
      kMaxUnauthenticated)
    return;
  lost(**std::find_if(peers_.begin(), peers_.end(), isUnauthenticated));
}

void Hub::lost(Peer& peer) {
  const std::set<Id> running = peer.running;
  peer.leaving = true;
  for (const Id id : running) again(*tasks_.at(id));
  for (const Id id : peer.asks) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) continue;
    found->second->followers.erase(&peer);
    found->second->waiters.erase(&peer);
  }
  peers_.remove_if([&](const auto& each) { return each.get() == &peer; });
  dispatch();
}

Hub::Task* Hub::taskOf(const Message& message) {
  if (message.fields.empty()) return nullptr;
  const auto found = tasks_.find(numberOf(message.fields[0]));
  return found == tasks_.end() ? nullptr : found->second.get();
}

// Messages about an earlier attempt are ignored.
Hub::Task* Hub::runningOn(const Peer& peer, const Message& message) {
  Task* task = taskOf(message);
  const bool so = task != nullptr && message.fields.size() >= 2 && task->member == &peer &&
                  task->attempt == numberOf(message.fields[1]);
  return so ? task : nullptr;
}

void Hub::take(Peer& peer, const Message& message) {
  if (!peer.name.empty()) return takeMembers(peer, message);
  if (message.kind == "member" && message.fields.size() == 3) {
    peer.name = message.fields[0] + ' ' + message.fields[1];
    peer.slots = std::min<std::size_t>(numberOf(message.fields[2]), kMaxSlots);
    if (!newest_.kind.empty()) peer.channel->send(newest_);
    return dispatch();
  }
  if (message.kind == "submit") return submit(peer, message);
  if (message.kind == "list") return list(peer);
  Task* task = taskOf(message);
  if (task == nullptr)
    return peer.channel->send(
        {"refused",
         {"no such task; of those that ended the last " + std::to_string(kMaxKept) + " are known"}});
  const bool over = task->state == "done" || task->state == "cancelled";
  if (message.kind == "cancel") return cancel(peer, *task);
  if (message.kind == "output" && !task->output.empty())
    peer.channel->send({"output", {message.fields[0], task->output}});
  if (over) return peer.channel->send({"done", {message.fields[0], task->state, task->code}});
  (message.kind == "output" ? task->followers : task->waiters).insert(&peer);
  peer.asks.insert(task->id);
}

void Hub::takeMembers(Peer& peer, const Message& message) {
  if (message.kind == "leaving") {
    peer.leaving = true;
    return;
  }
  if (message.kind == "membership" && message.fields.size() == 3) return passOn(peer, message);
  Task* task = runningOn(peer, message);
  if (task == nullptr) return;
  if (message.kind == "output" && message.fields.size() == 3) {
    task->output += message.fields[2];
    if (task->output.size() > 2 * kMaxOutput) task->output.erase(0, task->output.size() - kMaxOutput);
    for (Peer* each : task->followers)
      each->channel->send({"output", {message.fields[0], message.fields[2]}});
  } else if (message.kind == "ended" && message.fields.size() == 3) {
    release(*task);
    conclude(*task, task->cancelled ? "cancelled" : "done", message.fields[2]);
    dispatch();
  } else if (message.kind == "back") {
    again(*task);
    dispatch();
  }
}

void Hub::passOn(const Peer& from, const Message& membership) {
  if (!newest_.kind.empty() && numberOf(membership.fields[0]) <= numberOf(newest_.fields[0])) return;
  newest_ = membership;
  for (const auto& each : peers_) {
    if (each.get() != &from && !each->name.empty()) each->channel->send(newest_);
  }
}

void Hub::submit(Peer& peer, const Message& message) {
  if (message.fields.size() < 2 || message.fields[1].empty())
    return peer.channel->send({"refused", {"a task needs a command"}});
  if (waiting_.size() >= kMaxWaiting)
    return peer.channel->send({"refused", {std::to_string(kMaxWaiting) + " tasks wait already"}});
  auto task = std::make_unique<Task>();
  task->id = ++lastId_;
  task->words.assign(message.fields.begin() + 1, message.fields.end());
  if (message.fields[0] == "follow") {
    task->followers.insert(&peer);
    peer.asks.insert(task->id);
  }
  waiting_.push_back(task->id);
  peer.channel->send({"task", {std::to_string(task->id)}});
  tasks_.emplace(task->id, std::move(task));
  dispatch();
}

void Hub::cancel(Peer& peer, Task& task) {
  const std::string id = std::to_string(task.id);
  if (task.state == "waiting") {
    std::erase(waiting_, task.id);
    conclude(task, "cancelled", "");
  } else if (task.state == "running") {
    task.cancelled = true;
    task.member->channel->send({"end", {id, std::to_string(task.attempt)}});
  }
  if (task.state != "running") return peer.channel->send({"done", {id, task.state, task.code}});
  task.waiters.insert(&peer);
  peer.asks.insert(task.id);
}

void Hub::list(Peer& peer) {
  for (const auto& [id, task] : tasks_) {
    Message item{"item",
                 {std::to_string(id), task->state, task->code, task->member ? task->member->name : ""}};
    item.fields.insert(item.fields.end(), task->words.begin(), task->words.end());
    peer.channel->send(item);
  }
  peer.channel->send({"end"});
}

Hub::Peer* Hub::freest() {
  Peer* best = nullptr;
  for (const auto& each : peers_) {
    if (each->leaving || each->running.size() >= each->slots) continue;
    if (best == nullptr || each->slots - each->running.size() > best->slots - best->running.size())
      best = each.get();
  }
  return best;
}

void Hub::dispatch() {
  while (!waiting_.empty()) {
    Peer* member = freest();
    if (member == nullptr) return;
    Task& task = *tasks_.at(waiting_.front());
    waiting_.pop_front();
    task.state = "running";
    task.member = member;
    member->running.insert(task.id);
    Message start{"start", {std::to_string(task.id), std::to_string(++task.attempt)}};
    start.fields.insert(start.fields.end(), task.words.begin(), task.words.end());
    member->channel->send(start);
  }
}

void Hub::release(Task& task) {
  task.member->running.erase(task.id);
  task.member = nullptr;
}

void Hub::again(Task& task) {
  release(task);
  if (task.cancelled) return conclude(task, "cancelled", "");
  task.state = "waiting";
  task.output.clear();
  // The queue is in the order of submission: tasks of one lost member keep that order among themselves.
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), task.id), task.id);
}

void Hub::conclude(Task& task, std::string state, std::string code) {
  task.state = std::move(state);
  task.code = std::move(code);
  const Message done{"done", {std::to_string(task.id), task.state, task.code}};
  std::set<Peer*> recipients = task.followers;
  recipients.insert(task.waiters.begin(), task.waiters.end());
  for (Peer* each : recipients) {
    each->asks.erase(task.id);
    each->channel->send(done);
  }
  task.followers.clear();
  task.waiters.clear();
  ended_.push_back(task.id);
  forgetOldest();
}

void Hub::forgetOldest() {
  while (ended_.size() > kMaxKept) {
    tasks_.erase(ended_.front());
    ended_.pop_front();
  }
}

}  // namespace trainyard::launch
