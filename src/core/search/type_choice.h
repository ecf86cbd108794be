#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ids.h"

namespace trainyard::core {

// A pending gang, and the worth of each type of GPU for it.
struct TypeSeeker {
  model::ObjectKey job;
  int priority = 0;
  std::int64_t gpus = 0;  // of the whole gang
  std::map<std::string, int>
      worth;  // by type, in permille of the speed on its fastest type; unknown types are left out
};

// Chooses for each gang the type of GPU on which the cluster gains most.
//
// Assumes: a gang's gain on a type is its GPUs times its speed there relative to its fastest type
// (samples per second of two models are not comparable). Only gangs of equal priority yield to each
// other: a higher priority chooses first. Steps, for each priority: 1 in order of service, each gang
// takes the best type that has capacity, until there is none: these gangs start now, and share nothing
// with the others. 2 Among these, serve repeatedly the one that would lose most per GPU on its second
// best type (Vogel's approximation of a transport problem, which is optimal for two gangs and two types;
// comparative advantage). A gang with one type left comes before all. 3 Keep the result of 1 unless the
// sum of 2 is larger. Ties: order of service, then the type's name. (Rejected: the exact transport problem:
// one more gang could change its answer for a permille.)
//
// `seekers` in order of service; `free`: GPUs by type. Gangs without a type that has capacity are left out: a
// choice is a preference, and no gang waits for it.
[[nodiscard]] std::map<model::ObjectKey, std::string> chooseTypes(const std::vector<TypeSeeker>& seekers,
                                                                  std::map<std::string, std::int64_t> free);

}  // namespace trainyard::core
