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

// Runs with the job's coordinator: takes tasks from processes of the job and has its members run them.
// Nothing of it goes through Kubernetes.
//
// A task waits in one line, first come first served, for a free slot of any member; the member with the most
// free slots takes it. It ends once with a result: done with a code, or cancelled. Whose member leaves or is
// lost before that goes back to the head of the line, so a task may begin more than once: what it does
// outside must stand that.
//
// A new size that one member has learnt it tells to all others: a kubelet may take a minute to replace the
// file that says it.
//
// Messages. From members: member[role, index, slots], output[task, attempt, bytes], ended[task, attempt,
// code], back[task, attempt], leaving[]. To members: start[task, attempt, words…], end[task, attempt]. Both
// ways: membership[generation, role, size]. From clients: submit["follow" or "", words…], wait[task],
// output[task], cancel[task], list[]. To clients: task[id], done[task, state, code], output[task, bytes],
// item[task, state, code, member, words…], end[], refused[why].
class Hub {
 public:
  static constexpr std::size_t kMostWaiting = 100'000;
  static constexpr std::size_t kMostKept = 10'000;      // tasks that have ended, the oldest go first
  static constexpr std::size_t kMostOutput = 64 << 10;  // kept of each: its last bytes
  static constexpr std::size_t kMostPeers = 20'000;
  static constexpr std::size_t kMostStrangers = 128;  // without the token; the oldest go first

  // `listener` is taken.
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
  void dropOldestStranger();
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
  Message newest_;  // membership; of no kind as long as nobody has told of one
};

}  // namespace trainyard::launch
