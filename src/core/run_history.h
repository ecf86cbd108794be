#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::core {

// How long jobs run, learnt from jobs alone: nobody has to estimate anything.
//
// Assumes: jobs of one kind (same queue, user and GPUs, as far as known) that were submitted one after the
// other run for similar times, whatever that time is: people submit a sweep, or the same job again. In public
// traces the logarithms of neighbours' run times correlate by 0.5 to 0.8. Run times spread over orders of
// magnitude. Steps, for a job that has run for a: 1 take the kind's jobs around it in order of submission,
// each weighing less the further away in time it was submitted; 2 ended ones that ran longer than a are
// events, live ones that did so are known to run longer still (censored); 3 a few jobs that nobody saw, at
// multiples of a, stand for what is unknown; 4 estimate the chance to run on (Kaplan and Meier 1958) and from
// it the highest chance of ending per expected second over all horizons, Gittins' index (1979; for jobs of
// unknown length in Tiresias, NSDI 2019, section 3.3). Ties: none here, the index only ranks.
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
