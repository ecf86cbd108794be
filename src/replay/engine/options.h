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

namespace trainyard::replay {

enum class ReplayFormat { kMuri, kPhilly, kItp, kOpenb, kPollux };
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

// Which jobs say how they come through a stop. Those that do write a checkpoint when they are stopped, or one
// every `every` by themselves.
struct ReplayCheckpoint {
  static constexpr int kAll = 1'000;
  int permille = 0;  // of the jobs
  std::optional<std::chrono::seconds> every = std::nullopt;
  // From its places to where it was; absent: as the trace says.
  std::optional<std::chrono::seconds> restart = std::nullopt;

  // Whether the job does: spread evenly over the order of submission.
  [[nodiscard]] bool declares(std::size_t job) const {
    const auto before = job * static_cast<std::size_t>(permille) / kAll;
    return (job + 1) * static_cast<std::size_t>(permille) / kAll > before;
  }
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
  bool reports = true;
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
