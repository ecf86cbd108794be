#include "telemetry/process_metrics.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace trainyard::telemetry {
namespace {

// Fields of proc_pid_stat(5), counted after the program's name, which may contain spaces and brackets.
constexpr std::size_t kUserTicks = 11;
constexpr std::size_t kSystemTicks = 12;
constexpr std::size_t kThreads = 17;
constexpr std::size_t kStartTicks = 19;
constexpr std::size_t kVirtualBytes = 20;
constexpr std::size_t kResidentPages = 21;
constexpr std::size_t kFields = 22;

using Fields = std::array<double, kFields>;

std::optional<Fields> readStat() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const auto end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(end + 1));
  Fields fields{};
  for (std::size_t i = 0; i < kFields; ++i) {
    std::string word;
    if (!(words >> word)) return std::nullopt;
    // The first field is a letter: the state.
    fields[i] = i == 0 ? 0 : std::strtod(word.c_str(), nullptr);
  }
  return fields;
}

double readBootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

double openFiles() {
  std::error_code error;
  std::filesystem::directory_iterator folder("/proc/self/fd", error);
  double count = 0;
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) ++count;
  return count;
}

struct ProcessMetrics {
  explicit ProcessMetrics(MetricsRegistry& registry)
      : cpu(registry.counter("process_cpu_seconds_total", "CPU time of this process, user and system.")),
        resident(registry.gauge("process_resident_memory_bytes", "Resident memory of this process.")),
        virtualBytes(registry.gauge("process_virtual_memory_bytes", "Virtual memory of this process.")),
        open(registry.gauge("process_open_fds", "Open file descriptors.")),
        most(registry.gauge("process_max_fds", "Maximum number of open file descriptors.")),
        threads(registry.gauge("process_threads", "Threads of this process.")),
        start(registry.gauge("process_start_time_seconds", "Start of this process, in seconds since 1970.")) {
  }

  void fill() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) most.set(static_cast<double>(limit.rlim_cur));
    open.set(openFiles());
    const auto stat = readStat();
    if (!stat) return;
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const double used = ((*stat)[kUserTicks] + (*stat)[kSystemTicks]) / ticks;
    if (used > reported) cpu.increment(used - reported);
    reported = used;
    resident.set((*stat)[kResidentPages] * static_cast<double>(sysconf(_SC_PAGESIZE)));
    virtualBytes.set((*stat)[kVirtualBytes]);
    threads.set((*stat)[kThreads]);
    start.set(bootTime + (*stat)[kStartTicks] / ticks);
  }

  Counter cpu;
  Gauge resident;
  Gauge virtualBytes;
  Gauge open;
  Gauge most;
  Gauge threads;
  Gauge start;
  double reported = 0;
  double bootTime = readBootTime();
};

}  // namespace

void addProcessMetrics(MetricsRegistry& registry) {
  registry.beforeText([metrics = std::make_shared<ProcessMetrics>(registry)] { metrics->fill(); });
}

}  // namespace trainyard::telemetry
