#include "simulation/faults.h"

namespace trainyard::simulation {

std::string_view toString(Fault fault) {
  static constexpr std::array<std::string_view, kFaults> kWords = {
      "crash before", "crash after", "lose request", "lose reply", "delay",      "stall",     "409",
      "410",          "429",         "500",          "pause",      "drop watch", "delay line"};
  return kWords.at(static_cast<std::size_t>(fault));
}

std::string_view toString(Step step) {
  static constexpr std::array<std::string_view, kSteps + 1> kWords = {"list nodes",     "list pods",
                                                                      "list jobs",      "list others",
                                                                      "watch nodes",    "watch pods",
                                                                      "watch jobs",     "watch others",
                                                                      "read lease",     "make lease",
                                                                      "renew lease",    "event",
                                                                      "check template", "reserve",
                                                                      "claim",          "claimed",
                                                                      "abort",          "drop proposal",
                                                                      "merge",          "status words",
                                                                      "add finalizer",  "remove finalizer",
                                                                      "create service", "create configmap",
                                                                      "create member",  "release member",
                                                                      "all bound",      "notify member",
                                                                      "delete pod",     "force delete",
                                                                      "read job",       "read pod",
                                                                      "read owned",     "create gang",
                                                                      "change gang",    "delete gang",
                                                                      "mark templates", "suspend owner",
                                                                      "start owner",    "give place",
                                                                      "evict",          "other"};
  return kWords.at(static_cast<std::size_t>(step));
}

void HitTable::add(const HitTable& other) {
  for (std::size_t fault = 0; fault < hits_.size(); ++fault) {
    for (std::size_t step = 0; step < hits_[fault].size(); ++step)
      hits_[fault][step] += other.hits_[fault][step];
  }
  for (std::size_t step = 0; step < calls_.size(); ++step) calls_[step] += other.calls_[step];
}

}  // namespace trainyard::simulation
