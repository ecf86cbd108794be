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
// An ordering of the operator; or Tiresias' own: las with its two limits, by the rules of its paper where
// those are replayed.
struct ReplayPolicy {
  model::Ordering ordering = model::Ordering::kDefault;
  bool tiresias = false;
  friend bool operator==(const ReplayPolicy&, const ReplayPolicy&) = default;
};
inline constexpr ReplayPolicy kTiresias{model::Ordering::kLas, true};
// Where one pod goes; all but kDefault only where pods are placed one by one (openb).
enum class ReplayPlacement { kDefault, kFgd, kBestFit, kRandom };
// kOwn: start-up is paid on a start, a resume and a move. kMuri: the rules of Muri's simulator.
enum class ReplaySemantics { kOwn, kMuri };

// Whether the job, counted in the order of submission, is one of a part of all, spread evenly.
[[nodiscard]] constexpr bool isOneOf(std::size_t job, int permille) {
  constexpr std::size_t kWhole = 1'000;
  const auto part = static_cast<std::size_t>(permille);
  return (job + 1) * part / kWhole > job * part / kWhole;
}

// Which jobs say how they come through a stop. Those that do write a checkpoint when they are stopped, or one
// every `every` by themselves.
struct ReplayCheckpoint {
  static constexpr int kAll = 1'000;
  int permille = 0;  // of the jobs
  std::optional<std::chrono::seconds> every = std::nullopt;
  // From its places to where it was; absent: as the trace says.
  std::optional<std::chrono::seconds> restart = std::nullopt;

  // Whether the job does.
  [[nodiscard]] bool declares(std::size_t job) const { return isOneOf(job, permille); }
};
// "every=3600,restart=30,share=0.5", in seconds; each may be left out, and share is 1 then. kInvalid
// otherwise.
[[nodiscard]] base::Result<ReplayCheckpoint> parseReplayCheckpoint(std::string_view text);

// One replay, as asked for on the command line; checkReplay() says which combinations mean something.
struct ReplayOptions {
  ReplayFormat format = ReplayFormat::kMuri;
  // The operator's policy, and the order of service that takes the place of the policy's own.
  model::Policy base = {};
  std::optional<ReplayPolicy> policy = std::nullopt;
  ReplayPlacement placement = ReplayPlacement::kDefault;
  ReplaySemantics semantics = ReplaySemantics::kOwn;
  // Every job says how long it will run. For kSrtf and kSrsf in any case: they order by nothing else.
  bool withDurations = false;
  // Jobs are placed wider than they prefer when they waited long enough (philly, itp).
  bool relaxation = true;
  // Jobs of all the trace's queues wait in one (philly).
  bool oneQueue = false;
  ReplayCheckpoint checkpoint = {};
  // Jobs may be resized, and report how fast they are unless told otherwise (pollux).
  bool elastic = false;
  // Of the jobs of philly and itp so many are elastic, spread evenly over the order of submission; and how
  // fast they are: n times as many members are n^scaling times as fast.
  int elasticPermille = 0;
  double scaling = 0.85;
  bool reports = true;
  StaticSizes sizes = {};      // dorm: what each kind of application gets; none: they are elastic
  bool adaptiveBatch = false;  // elastic jobs choose their batch size by their goodput (pollux)
  std::uint64_t seed = 1;
  std::size_t seeds = 1;  // how many, counted up from `seed` (openb)
  std::string jobsFile;
  std::string cluster;  // "8x8", nodes times GPUs of each, or a file of the format
};

// What a replay needs from outside.
struct ReplayOutside {
  std::function<base::Result<std::string>(const std::string& path)> readFile;
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
};

}  // namespace trainyard::replay
