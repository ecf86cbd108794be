#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ids.h"

namespace trainyard::core {

// A gang that waits, and what each type of GPU is worth to it.
struct TypeSeeker {
  model::ObjectKey job;
  int priority = 0;
  std::int64_t gpus = 0;  // of the whole gang
  std::map<std::string, int>
      worth;  // by type, permille of its fastest; types of which nothing is known are left out
};

// For each gang the type of GPU on which the cluster gains most.
//
// Assumes: what a gang gains on a type is its GPUs times its speed there as a part of its speed on its
// fastest one (samples a second of two models do not compare); and only gangs of equal priority do without
// for each other: a higher one chooses before. Steps, for each priority: 1 in order of service, each takes
// the best type that has room, until there is none: those start now, with the others nobody shares; 2 among
// these again and again the one is served that would lose most for a GPU if it had its second best type
// (Vogel's approximation of a transport problem, which for two gangs and two types is the optimum;
// comparative advantage); whoever has one type left that has room comes before all; 3 what came out of 1
// stays where the sum of 2 is not larger. Ties: order of service, then the type's name. (Lost: the exact
// transport problem, whose answer would change for the sake of a permille when one more gang comes.)
//
// `seekers` in order of service; `free`: GPUs by type. Gangs for which no type has room are left out: a
// choice is a preference, and nobody waits for it.
[[nodiscard]] std::map<model::ObjectKey, std::string> chooseTypes(const std::vector<TypeSeeker>& seekers,
                                                                  std::map<std::string, std::int64_t> free);

}  // namespace trainyard::core
