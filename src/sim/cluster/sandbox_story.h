#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "sim/cluster/observer.h"

namespace trainyard::sim {

// The phase that a job of a story is expected to end with.
inline constexpr const char* kExpectAnnotation = "trainyard.dev/expect-phase";

// Prints, line by line, what happens to training jobs: submitted, pending and why, placed where, running,
// ended.
class SandboxStory {
 public:
  using Print = std::function<void(const std::string& line)>;

  // Registers its listeners at once; `observer` must be started later.
  SandboxStory(ClusterObserver& observer, base::Executor& executor, Print print, bool colours);

  void printLine(std::string_view subject, std::string_view text, std::string_view colour = "");
  // Announces a new job. `expected` is the phase that it should end with; empty if there is none.
  void submitted(const model::ObjectKey& job, std::string expected, std::string_view source);
  // Returns true if every job has ended, or has reached the phase that it should stay in.
  [[nodiscard]] bool settled() const;
  // Prints a table of all jobs; returns true if every expectation is met.
  bool summary();

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using PodPtr = std::shared_ptr<const model::Pod>;
  struct PrintedJob {
    std::string expected;
    std::string phase;
    std::string reason;  // of the last message about why it is pending
    std::string message;
    std::string waitedFor;
    base::Instant printedWait{};
    base::Instant submitted{};
    std::optional<base::Instant> firstBound;
    std::optional<base::Instant> running;
    std::optional<base::Instant> ended;
    std::set<std::string> bound;  // pods of this attempt
    std::int64_t epoch = 0;
    std::set<model::NodeName> nodes;
    std::string place;
  };

  void jobChanged(const JobPtr& job);
  void podChanged(const PodPtr& before, const PodPtr& after);
  void phaseChanged(PrintedJob& printed, const model::Job& job);
  void waits(PrintedJob& printed, const model::Job& job);
  [[nodiscard]] std::string placeOf(const std::set<model::NodeName>& nodes) const;
  [[nodiscard]] static double seconds(base::Instant::duration span);

  ClusterObserver& observer_;
  base::Executor& executor_;
  Print print_;
  bool colours_;
  std::map<model::ObjectKey, PrintedJob> jobs_;
};

}  // namespace trainyard::sim
