#pragma once

#include <ctime>

namespace trainyard::test {

// CPU time of this thread: the cost of a cycle, independent of other processes.
[[nodiscard]] inline double cpuMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace trainyard::test
