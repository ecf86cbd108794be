#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/policy.h"
#include "replay/traces/dorm_trace.h"

namespace trainyard::replay {

enum class ReplayFormat { kMuri, kPhilly, kItp, kOpenb, kPollux, kDorm };
// An ordering of the operator; or Tiresias' own: las with its two limits, and with the rules of its paper for
// traces that are replayed by those.
struct ReplayPolicy {
  model::Ordering ordering = model::Ordering::kDefault;
  bool tiresias = false;
  friend bool operator==(const ReplayPolicy&, const ReplayPolicy&) = default;
};
inline constexpr ReplayPolicy kTiresias{model::Ordering::kLas, true};
// How a node is chosen for one pod; only kDefault unless pods are placed one by one (openb).
enum class ReplayPlacement { kDefault, kFgd, kBestFit, kRandom };
// kOwn: a start, a resume and a move cost the start-up time. kMuri: the rules of Muri's simulator.
enum class ReplaySemantics { kOwn, kMuri };

// Returns true if the job, counted in order of submission, belongs to an evenly spread part of all jobs.
[[nodiscard]] constexpr bool isOneOf(std::size_t job, int permille) {
  constexpr std::size_t kWhole = 1'000;
  const auto part = static_cast<std::size_t>(permille);
  return (job + 1) * part / kWhole > job * part / kWhole;
}

// Which jobs declare checkpoints: those write one when they are preempted, or one every `every` by
// themselves.
struct ReplayCheckpoint {
  static constexpr int kAll = 1'000;
  int permille = 0;  // of the jobs
  std::optional<std::chrono::seconds> every = std::nullopt;
  // From the placement to the former progress; nullopt: the trace's value.
  std::optional<std::chrono::seconds> restart = std::nullopt;

  // Returns true if the job declares checkpoints.
  [[nodiscard]] bool declares(std::size_t job) const { return isOneOf(job, permille); }
};
// Parses "every=3600,restart=30,share=0.5", in seconds; each may be omitted, and share is 1 then. kInvalid
// otherwise.
[[nodiscard]] base::Result<ReplayCheckpoint> parseReplayCheckpoint(std::string_view text);

// One replay as requested on the command line; checkReplay() defines the valid combinations.
struct ReplayOptions {
  ReplayFormat format = ReplayFormat::kMuri;
  // The operator's policy, and an order of service that replaces the policy's own.
  model::Policy base = {};
  std::optional<ReplayPolicy> policy = std::nullopt;
  ReplayPlacement placement = ReplayPlacement::kDefault;
  ReplaySemantics semantics = ReplaySemantics::kOwn;
  // Every job declares its duration. Always true for kSrtf and kSrsf, which order by nothing else.
  bool withDurations = false;
  // Jobs that waited long enough are placed wider than they prefer (philly, itp).
  bool relaxation = true;
  // All jobs wait in one queue (philly).
  bool oneQueue = false;
  ReplayCheckpoint checkpoint = {};
  // Jobs may be resized, and report their speed unless `reports` is false (pollux).
  bool elastic = false;
  // The share of elastic jobs in philly and itp, spread evenly over the order of submission, and their speed:
  // n times as many members are n^scaling times as fast.
  int elasticPermille = 0;
  double scaling = 0.85;
  bool reports = true;
  StaticSizes sizes = {};      // dorm: the size of each kind of application; empty: they are elastic
  bool adaptiveBatch = false;  // elastic jobs choose their batch size by their goodput (pollux)
  std::uint64_t seed = 1;
  std::size_t seeds = 1;  // the number of seeds, from `seed` on (openb)
  std::string jobsFile;
  std::string cluster;  // "8x8", nodes times GPUs of each, or a file of the trace's format
};

// The replay's access to files and to the progress display.
struct ReplayOutside {
  std::function<base::Result<std::string>(const std::string& path)> readFile;
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
};

}  // namespace trainyard::replay
