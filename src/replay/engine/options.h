#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"

namespace trainyard::replay {

enum class ReplayFormat { kMuri, kPhilly, kItp, kOpenb, kPollux };
enum class ReplayPolicy { kFifo, kLas, kSrtf, kSrsf, kTiresias, kDefault };
// Where one pod goes; all but kDefault only where pods are placed one by one (openb).
enum class ReplayPlacement { kDefault, kFgd, kBestFit, kRandom };
// kOwn: start-up is paid on a start, a resume and a move. kMuri: the rules of Muri's simulator.
enum class ReplaySemantics { kOwn, kMuri };

// One replay, as asked for on the command line; checkReplay() says which combinations mean something.
struct ReplayOptions {
  ReplayFormat format = ReplayFormat::kMuri;
  ReplayPolicy policy = ReplayPolicy::kDefault;
  ReplayPlacement placement = ReplayPlacement::kDefault;
  ReplaySemantics semantics = ReplaySemantics::kOwn;
  // The policy is told how long a job runs. kSrtf and kSrsf are told in any case: they order by nothing else.
  bool withDurations = false;
  // Jobs are placed wider than they prefer when they waited long enough (philly, itp).
  bool relaxation = true;
  // philly, itp, kDefault: nobody is stopped for the sake of order; the operator's own cycle decides.
  bool timeSlices = true;
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
