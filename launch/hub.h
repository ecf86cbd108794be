#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/channel.h"

namespace trainyard::launch {

// Runs with the job's coordinator: accepts tasks from processes of the job, and dispatches them to its
// members. Nothing of this goes through Kubernetes.
//
// Tasks wait in one queue, first come first served, for a free slot of any member. The member with the most
// free slots takes the next task. A task ends once with a result: done with a code, or cancelled. If its
// member leaves or is lost before that, the task returns to its place in the queue. A task may therefore
// start more than once: its external effects must tolerate that.
//
// The hub forwards a new size from one member to all others: a kubelet may take
// a minute to replace the file that contains it.
//
// Messages from members: member[role, index, slots], output[task, attempt, bytes],
// ended[task, attempt, code], back[task, attempt], leaving[]. To members: start[task, attempt, command…],
// end[task, attempt]. Both ways: membership[generation, role, size]. From clients: wait[task], list[],
// submit["follow" or "", command…], output[task], cancel[task]. To clients: task[id], output[task, bytes],
// done[task, state, code], item[task, state, code, member, command…], end[], refused[reason].
class Hub {
 public:
  static constexpr std::size_t kMaxWaiting = 100'000;
  static constexpr std::size_t kMaxKept = 10'000;      // tasks that have ended; the oldest are dropped first
  static constexpr std::size_t kMaxOutput = 64 << 10;  // kept of each task: its last bytes
  static constexpr std::size_t kMaxPeers = 20'000;
  static constexpr std::size_t kMaxUnauthenticated = 128;  // without the token; the oldest are dropped first

  // Takes ownership of `listener`.
  Hub(Loop& loop, int listener, std::string token);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

 private:
  using Id = std::uint64_t;
  struct Task;
  struct Peer;

  void accept();
  void take(Peer& peer, const Message& message);
  void takeMembers(Peer& peer, const Message& message);
  void passOn(const Peer& from, const Message& membership);
  void dropOldestUnauthenticated();
  void lost(Peer& peer);
  void submit(Peer& peer, const Message& message);
  void cancel(Peer& peer, Task& task);
  void list(Peer& peer);
  void dispatch();
  Peer* freest();
  void release(Task& task);
  void again(Task& task);
  void conclude(Task& task, std::string state, std::string code);
  void forgetOldest();
  Task* taskOf(const Message& message);
  Task* runningOn(const Peer& peer, const Message& message);

  Loop& loop_;
  int listener_;
  std::optional<Loop::TimerId> pause_;
  std::string token_;
  std::list<std::unique_ptr<Peer>> peers_;
  std::map<Id, std::unique_ptr<Task>> tasks_;
  std::deque<Id> waiting_;
  std::deque<Id> ended_;
  Id lastId_ = 0;
  Message newest_;  // the latest membership; an empty kind until a member reports one
};

}  // namespace trainyard::launch
