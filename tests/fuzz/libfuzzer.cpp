// TRAINYARD_FUZZ_TARGET is the function that the program is compiled for.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// CPU time: other processes and pauses of this one do not count.
std::int64_t microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

std::int64_t slowest = 0;

// In the format of libFuzzer's own statistics, which have whole seconds only.
void printSlowest() {
  std::fprintf(stderr, "stat::slowest_input_us: %lld\n", static_cast<long long>(slowest));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool registered = std::atexit(printSlowest) == 0;
  static_cast<void>(registered);
  const std::int64_t begin = microseconds();
  trainyard::fuzz::TRAINYARD_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  const std::int64_t took = microseconds() - begin;
  if (took > slowest) slowest = took;
  return 0;
}
