#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::core {

// How long jobs run, learnt from jobs alone (core/order/gittins_index.h): nobody has to estimate anything.
// For a replay, which follows every job from its submission to its end; core/order/run_time_model.h does the
// same for a cluster, whose jobs come and go.
//
// A job learns from those of its kind (same queue, user and GPUs, as far as known) that were submitted around
// it.
class RunHistory {
 public:
  struct Id {
    std::uint32_t kind = 0;
    std::uint32_t position = 0;
  };
  using Seconds = std::chrono::duration<double>;

  // In the order of submission within a kind. `submitted`: since any fixed moment.
  Id submit(const std::string& kind, Seconds submitted);
  // `ran`: in all so far, however often it was interrupted.
  void ran(Id job, Seconds ran);
  // Ended by itself: stopped and failed jobs say nothing about how long one runs; leave them as they are.
  void ended(Id job, Seconds ran);

  // Chance of ending per second of running that is invested, at the best horizon; higher is better. As of
  // when the job, or one that it learns from, last ended or had run a twentieth longer: asking is cheap.
  [[nodiscard]] double rate(Id job);

 private:
  struct Run {
    double submitted = 0;
    double ran = 0;
    bool ended = false;
    double toldAt = 0;  // what it had run when its neighbours last heard of it
    double rate = 0;
    bool fresh = false;  // `rate` is as of now
  };

  // Those that a job learns from are those that learn from it.
  [[nodiscard]] static std::pair<std::size_t, std::size_t> around(const std::vector<Run>& runs,
                                                                  std::uint32_t position);
  void tell(Id job);

  std::map<std::string, std::uint32_t> kindOf_;
  std::vector<std::vector<Run>> kinds_;
};

}  // namespace trainyard::core
