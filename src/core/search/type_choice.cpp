#include "core/search/type_choice.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

namespace trainyard::core {
namespace {

using Free = std::map<std::string, std::int64_t>;
using Choice = std::map<std::size_t, std::string>;  // by index of the seeker

// More than any type can be worth.
constexpr int kNowhereElse = 1'000'000;

struct Best {
  const std::string* type = nullptr;
  int worth = 0;
  int regret = 0;  // the loss on its second best type
};

Best bestOf(const TypeSeeker& seeker, const Free& free) {
  Best best;
  int second = -kNowhereElse;
  for (const auto& [type, worth] : seeker.worth) {
    const auto capacity = free.find(type);
    if (capacity == free.end() || capacity->second < seeker.gpus) continue;
    if (best.type == nullptr || worth > best.worth) {
      if (best.type != nullptr) second = std::max(second, best.worth);
      best.type = &type;
      best.worth = worth;
    } else {
      second = std::max(second, worth);
    }
  }
  best.regret = best.worth - second;
  return best;
}

class Tier {
 public:
  Tier(const std::vector<TypeSeeker>& seekers, std::vector<std::size_t> members, const Free& free)
      : seekers_(seekers), members_(std::move(members)), free_(free) {}

  // Subtracts the chosen GPUs from `free`.
  Choice choose(Free& free) {
    Free afterFirst = free_;
    const Choice first = inOrder(afterFirst);
    Free afterSecond = free_;
    const Choice second = byRegret(first, afterSecond);
    const bool better = second.size() == first.size() && valueOf(second) > valueOf(first);
    free = better ? afterSecond : afterFirst;
    return better ? second : first;
  }

 private:
  Choice inOrder(Free& free) const {
    Choice chosen;
    for (const std::size_t index : members_) {
      const Best best = bestOf(seekers_[index], free);
      if (best.type == nullptr) continue;
      free[*best.type] -= seekers_[index].gpus;
      chosen.emplace(index, *best.type);
    }
    return chosen;
  }

  Choice byRegret(const Choice& starting, Free& free) const {
    std::set<std::size_t> left;
    for (const auto& [index, type] : starting) left.insert(index);
    Choice chosen;
    while (!left.empty()) {
      std::size_t next = *left.begin();
      Best its = bestOf(seekers_[next], free);
      for (const std::size_t index : left) {
        const Best best = bestOf(seekers_[index], free);
        if (best.type != nullptr && (its.type == nullptr || best.regret > its.regret)) {
          next = index;
          its = best;
        }
      }
      left.erase(next);
      if (its.type == nullptr) continue;
      free[*its.type] -= seekers_[next].gpus;
      chosen.emplace(next, *its.type);
    }
    return chosen;
  }

  [[nodiscard]] std::int64_t valueOf(const Choice& choice) const {
    std::int64_t sum = 0;
    for (const auto& [index, type] : choice)
      sum += seekers_[index].gpus * seekers_[index].worth.find(type)->second;
    return sum;
  }

  const std::vector<TypeSeeker>& seekers_;
  std::vector<std::size_t> members_;
  const Free& free_;
};

}  // namespace

std::map<model::ObjectKey, std::string> chooseTypes(const std::vector<TypeSeeker>& seekers,
                                                    std::map<std::string, std::int64_t> free) {
  std::map<int, std::vector<std::size_t>, std::greater<>> tiers;
  for (std::size_t i = 0; i < seekers.size(); ++i) tiers[seekers[i].priority].push_back(i);
  std::map<model::ObjectKey, std::string> all;
  for (auto& [priority, members] : tiers) {
    const Free before = free;
    for (const auto& [index, type] : Tier(seekers, std::move(members), before).choose(free))
      all.emplace(seekers[index].job, type);
  }
  return all;
}

}  // namespace trainyard::core
