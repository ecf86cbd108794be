#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent_metrics.h"
#include "agent/kernel.h"
#include "base/log.h"

namespace trainyard::agent {

// The traffic control of one device: reads and changes it. Counts errors, and logs each once: what causes
// them is repeated every few seconds.
class LinkDevice {
 public:
  LinkDevice(Kernel& kernel, std::string name, const base::Logger& log, AgentMetrics& metrics)
      : kernel_(kernel), name_(std::move(name)), log_(log), metrics_(metrics) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] base::Result<FoundLink> read();
  [[nodiscard]] base::Result<std::vector<FoundClass>> readClasses() { return kernel_.readClasses(name_); }

  struct Applied {
    bool good = true;                                   // all changes were made
    std::optional<base::Error> missing = std::nullopt;  // the kernel lacks a feature: the rest was not tried
  };
  [[nodiscard]] Applied apply(const TcChanges& changes);
  // Removes our qdisc, if its queues are empty or with `force`. Returns true once nothing is left to remove.
  [[nodiscard]] bool removeQdisc(bool force);

  // A problem that is reported elsewhere; empty: all is well. The next error is logged even if it was the
  // last one, too.
  void setTrouble(std::string text) { trouble_ = std::move(text); }

 private:
  void note(const base::Error& error);

  Kernel& kernel_;
  std::string name_;
  base::Logger log_;
  AgentMetrics& metrics_;
  std::string trouble_;
};

}  // namespace trainyard::agent
