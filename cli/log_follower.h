#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/cluster_client.h"
#include "cli/log_sources.h"

namespace trainyard::cli {

struct FollowOptions {
  model::ObjectKey job;
  LogChoice choice;
  std::string container = {};
  int tail = -1;  // lines to begin with; -1: all
};

// Prints the lines of a job's members as they arrive, until the job has ended or is
// deleted. Includes later attempts, and members that are added later. All streams run on
// the client's one loop; the calling thread prints.
class LogFollower {
 public:
  // `print` receives whole lines with their label, `warn` receives messages about the streams.
  LogFollower(ClusterClient& client, FollowOptions options, std::function<void(const std::string&)> print,
              std::function<void(const std::string&)> warn)
      : client_(client), options_(std::move(options)), print_(std::move(print)), warn_(std::move(warn)) {}

  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  // Blocks until the end. A transient error is reported once, and the request is repeated.
  [[nodiscard]] base::Result<void> run();

 private:
  struct Event {
    std::string pod;
    std::string label;
    std::optional<std::string> line = std::nullopt;
    base::Result<void> end = {};
  };

  [[nodiscard]] base::Result<bool> look();
  void follow(const LogSource& source, const LogRun& run);
  [[nodiscard]] base::Result<void> take(std::deque<Event> events);
  [[nodiscard]] std::deque<Event> await();
  void push(Event event);
  [[nodiscard]] base::Result<void> passing(const base::Error& error);

  ClusterClient& client_;
  const FollowOptions options_;
  const std::function<void(const std::string&)> print_;
  const std::function<void(const std::string&)> warn_;
  std::set<LogRun> followed_;                // runs that are followed, or were to the end
  std::map<std::string, LogRun> open_;       // by pod
  std::map<LogRun, base::WallTime> broken_;  // broken streams, and the time from which to read again
  std::string lastError_;                    // the last transient error that was reported

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Event> events_;
};

}  // namespace trainyard::cli
