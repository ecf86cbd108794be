#include "simulation/report.h"

#include <fmt/format.h>

namespace trainyard::simulation {
namespace {

template <typename Body>
void eachPair(Body body) {
  for (int step = 0; step < kSteps; ++step) {
    for (int fault = 0; fault < kFaults; ++fault) body(static_cast<Fault>(fault), static_cast<Step>(step));
  }
}

}  // namespace

std::string hitTable(const HitTable& hits) {
  std::string text = fmt::format("{:<16}{:>9}", "step", "calls");
  for (int fault = 0; fault < kFaults; ++fault)
    text += fmt::format("{:>13}", toString(static_cast<Fault>(fault)));
  for (int step = 0; step < kSteps; ++step) {
    const Step which = static_cast<Step>(step);
    text += fmt::format("\n{:<16}{:>9}", toString(which), hits.calls(which));
    for (int i = 0; i < kFaults; ++i) {
      const Fault fault = static_cast<Fault>(i);
      text +=
          applies(fault, which) ? fmt::format("{:>13}", hits.at(fault, which)) : fmt::format("{:>13}", "-");
    }
  }
  return text + '\n';
}

std::string missedPairs(const HitTable& hits, bool owners) {
  std::string text;
  eachPair([&](Fault fault, Step step) {
    if (!applies(fault, step) || hits.at(fault, step) > 0) return;
    if (!owners && static_cast<int>(step) >= kStepsWithoutOwners) return;
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", toString(fault), toString(step));
  });
  return text;
}

}  // namespace trainyard::simulation
