#include "cli/philly_failures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "core/lifecycle.h"

namespace trainyard::cli {
namespace {

using enum model::FailureClass;

// A row of the paper's table. Times are minutes from start to
// failure, shares are percent; both are in hundredths.
struct Row {
  std::string_view reason;
  model::FailureClass failure;
  std::int64_t trials;
  std::int64_t jobs;
  std::int64_t minutes50;
  std::int64_t minutes90;
  std::int64_t minutes95;
  std::int64_t timeShare;
  std::int64_t gpuShare;
};

constexpr std::array kRows = {
    Row{"CPU out of memory", kHostOutOfMemory, 12076, 2803, 1345, 1773, 3397, 662, 805},
    Row{"Incorrect inputs", kInputError, 9690, 4936, 187, 40483, 209573, 3043, 2421},
    Row{"Semantic error", kUserCodeError, 2943, 2049, 272, 37600, 143688, 922, 1706},
    Row{"Core dump", kAborted, 2912, 1784, 85, 7275, 43165, 335, 302},
    Row{"Invalid mem access", kSegmentationFault, 2602, 1235, 103, 40350, 135738, 382, 475},
    // The paper's errors are failed writes to the file system, not contents that cannot be read.
    Row{"Model ckpt error", kStorageUnavailable, 1995, 948, 18167, 372893, 819602, 2173, 1633},
    Row{"CUDA failure", kCudaError, 1484, 571, 132, 1987, 8217, 62, 72},
    Row{"Syntax error", kSyntaxError, 1132, 883, 58, 502, 1200, 19, 26},
    Row{"Traceback from crash", kUserCodeError, 777, 271, 102, 89433, 139407, 234, 174},
    Row{"MPI error", kMpiError, 634, 166, 162, 301527, 514398, 370, 124},
    Row{"GPU out of memory", kGpuOutOfMemory, 487, 261, 1853, 35362, 274028, 108, 210},
    Row{"MPI runtime failure", kMpiRuntimeFailure, 478, 420, 138948, 1377860, 1809088, 1463, 1534},
    Row{"Permission error", kPermissionDenied, 299, 151, 100, 815, 1585, 7, 3},
    Row{"Import error", kImportError, 148, 148, 67, 458, 1073, 6, 2},
    Row{"Job preempted", kPreempted, 147, 95, 55908, 268285, 589223, 166, 473},
    Row{"CUDA init failed", kCudaInitFailed, 141, 69, 108, 218, 463, 3, 13},
    Row{"Model diverged", kModelDiverged, 84, 30, 148, 4437, 7653, 1, 1},
    Row{"CUDA ver. mismatch", kCudaVersionMismatch, 49, 49, 83, 165, 167, 0, 0},
    Row{"GPU ECC error", kGpuHardware, 10, 10, 2682, 67192, 203502, 3, 5},
    Row{"Output node error", kUserCodeError, 3, 3, 85, 95, 95, 0, 0},
    Row{"Cannot load libs", kLibraryMissing, 1, 1, 12, 12, 12, 0, 0},
    Row{"No signature", kUnknown, 1684, 698, 187, 2800, 9517, 42, 21},
};

constexpr std::int64_t kRetries = 3;

// The mean run time, in thousandths of hundredths of a minute: uniform between the known percentiles, none
// beyond the last one. It is rather too short than too long.
std::int64_t meanTime(const Row& row) {
  return 250 * row.minutes50 + 200 * (row.minutes50 + row.minutes90) + 25 * (row.minutes90 + row.minutes95) +
         50 * row.minutes95;
}

std::int64_t restartsOf(const Row& row) {
  return std::min<std::int64_t>(core::defaultReaction(row.failure).restarts.value_or(kRetries), kRetries);
}

// The GPU hours of `runs` failed runs of each of the row's jobs. The unit is the GPUs of the mean failing
// run: the ratio of the row's two shares gives its GPUs in this unit.
std::int64_t gpuHours(const Row& row, std::int64_t runs) {
  constexpr std::int64_t kHour = 60LL * 100 * 1'000;
  const std::int64_t time = meanTime(row) * row.jobs * runs;
  const bool known = row.timeShare > 0 && row.gpuShare > 0;
  // The shares come last, in an order that keeps all products far below 64 bits.
  return known ? time / kHour * row.gpuShare / row.timeShare : time / kHour;
}

}  // namespace

std::string phillyTable() {
  std::string text =
      "| reason in the paper | our class | jobs | runs of each: retried three times | ours | GPU hours: "
      "retried three "
      "times | ours |\n|---|---|---|---|---|---|---|\n";
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (const Row& row : kRows) {
    const std::int64_t three = gpuHours(row, 1 + kRetries);
    const std::int64_t ours = gpuHours(row, 1 + restartsOf(row));
    before += three;
    after += ours;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.reason, toString(row.failure), row.jobs,
                        1 + kRetries, 1 + restartsOf(row), three, ours);
  }
  text +=
      fmt::format("| all | | | | | {} | {} ({}% less) |\n", before, after, (before - after) * 100 / before);
  return text;
}

}  // namespace trainyard::cli
