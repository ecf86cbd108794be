#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "simulation/report.h"
#include "simulation/world.h"

// Runs the operator in thousands of random scenarios. Exit code 1 if a seed violates a law, is not
// reproducible, or (with --all-hits) a fault never met a step.
namespace trainyard::simulation {
namespace {

struct Options {
  std::uint64_t from = 1;
  std::uint64_t count = 100;
  unsigned threads = 2;
  bool allHits = false;
  bool untilFound = false;
  bool replay = false;
  bool table = false;
  RunOptions run;
};

thread_local std::uint64_t currentSeed = 0;

// A crash of the simulation itself must report its seed too.
void nameSeed(int signal) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "seed %llu: signal %d\n",
                                   static_cast<unsigned long long>(currentSeed), signal);
  std::fwrite(text, 1, static_cast<std::size_t>(std::max(length, 0)), stderr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options), next_(options.from) {}

  int run() {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return report(took.count());
  }

 private:
  void work() {
    RunOptions run = options_.run;
    if (auto types = sim::SimulatedCluster::readTypes()) run.types = *std::move(types);
    for (;;) {
      const std::uint64_t seed = next_++;
      if (seed >= options_.from + options_.count || (options_.untilFound && failed_ > 0)) return;
      currentSeed = seed;
      const auto begin = std::chrono::steady_clock::now();
      RunResult result = runSeed(seed, run);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      // Every hundredth seed runs twice: equal seeds must yield equal runs.
      if (options_.replay || seed % 100 == 0) {
        const RunResult again = runSeed(seed, {.draw = run.draw, .types = run.types});
        if (again.trace != result.trace)
          result.problems.push_back(
              fmt::format("a second run differs: {} and {} lines", result.lines, again.lines));
      }
      note(seed, result, took.count());
    }
  }

  void note(std::uint64_t seed, const RunResult& result, double ms) {
    const std::lock_guard lock(mutex_);
    hits_.add(result.hits);
    times_.push_back(ms);
    if (options_.count == 1)
      fmt::print("{}trace {:016x}, {} lines\n", describe(drawScenario(seed, options_.run.draw)), result.trace,
                 result.lines);
    if (result.problems.empty()) return;
    ++failed_;
    firstFailed_ = std::min(firstFailed_, seed);
    if (failed_ > 10) return;
    fmt::print("seed {} FAILED, trace {:016x}; again: simulate-seeds --from {} --count 1 --trace\n", seed,
               result.trace, seed);
    for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
    fmt::print("{}", result.left);
    std::fflush(stdout);
  }

  int report(double seconds) {
    if (options_.table) fmt::print("{}", hitTable(hits_));
    std::sort(times_.begin(), times_.end());
    const std::size_t runs = times_.size();
    if (runs > 0) {
      fmt::print("{} seeds in {:.1f} s on {} threads: {:.1f} ms each in the median, {:.1f} at 99%\n", runs,
                 seconds, options_.threads, times_[runs / 2], times_[runs * 99 / 100]);
    }
    const std::string missed = missedPairs(hits_, options_.run.draw.owners);
    if (options_.allHits && !missed.empty()) fmt::print("never hit: {}\n", missed);
    if (hits_.calls(Step::kOther) > 0) fmt::print("{} calls of no known step\n", hits_.calls(Step::kOther));
    if (failed_ > 0) fmt::print("{} seeds failed, the first is {}\n", failed_.load(), firstFailed_);
    const bool good = failed_ == 0 && hits_.calls(Step::kOther) == 0 && (!options_.allHits || missed.empty());
    return good ? 0 : 1;
  }

  const Options options_;
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  HitTable hits_;
  std::vector<double> times_;
  std::atomic<int> failed_ = 0;
  std::uint64_t firstFailed_ = ~std::uint64_t{0};
};

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs the operator through seeds of drawn troubles on the in-memory cluster.");
  app.add_option("--from", options.from, "the first seed");
  app.add_option("--count", options.count, "how many seeds");
  app.add_option("--threads", options.threads, "how many at a time")->check(CLI::Range(1, 64));
  app.add_flag("--all-hits", options.allHits, "fail when a fault never met a step");
  app.add_flag("--until-found", options.untilFound, "stop at the first seed that fails");
  app.add_flag("--replay", options.replay, "run every seed twice and compare");
  app.add_flag("--table", options.table, "print how often which fault met which step");
  app.add_flag("--contention", options.run.draw.contention,
               "more gangs than fit, with queues and priorities: some have to make room");
  app.add_flag("--late", options.run.draw.late, "gangs that may begin before all their members are there");
  app.add_flag("--lending", options.run.draw.lending,
               "with contention: some jobs never end, and entitled jobs must still start in time");
  app.add_flag("--owners", options.run.draw.owners, "other controllers make the pods of some jobs");
  app.add_flag("--trace", options.run.trace, "print every API call of the operators on stderr");
  app.add_flag("--log", options.run.log, "print what the programs log on stderr");
  CLI11_PARSE(app, argc, argv);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, nameSeed);
  return Campaign(options).run();
}

}  // namespace
}  // namespace trainyard::simulation

int main(int argc, char** argv) { return trainyard::simulation::main(argc, argv); }
