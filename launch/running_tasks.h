#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "launch/child.h"
#include "launch/loop.h"
#include "launch/message_stream.h"

namespace trainyard::launch {

// The tasks that run on this member, with their output.
class RunningTasks {
 public:
  // Where results and output go.
  struct Outlet {
    std::function<void(const Message&)> send;
    std::function<bool()> isFull;  // the hub does not read: tasks block, as on a full pipe
    std::function<void()> ended;   // a task has ended, and its result was sent
  };

  // `environment` is that of all tasks.
  RunningTasks(Loop& loop, Children& children, Environment environment, Outlet outlet);
  ~RunningTasks();
  RunningTasks(const RunningTasks&) = delete;
  RunningTasks& operator=(const RunningTasks&) = delete;

  // Handles start[task, attempt, command…].
  void start(const Message& message);
  // Kills a task; does nothing if it does not run.
  void end(const std::string& task, const std::string& attempt);
  void endAll();
  // Ends all tasks; other members run them again.
  void giveUp();
  [[nodiscard]] bool empty() const { return running_.empty(); }

 private:
  struct Running;

  void watchOutput(const std::string& id, int output);
  void readOutput(const std::string& id);
  void ended(const std::string& id, int code);

  Loop& loop_;
  Children& children_;
  Environment environment_;
  Outlet outlet_;
  std::map<std::string, std::unique_ptr<Running>> running_;  // by "task/attempt"
  bool over_ = false;                                        // other members run ended tasks again
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::launch
