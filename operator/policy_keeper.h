#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "codec/policy.h"
#include "model/policy.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Follows the policy file. It is read again every few seconds and compared by content: a ConfigMap's volume
// changes by a swapped link, which no watch on the file itself would see. A file that cannot be used changes
// nothing, and is complained about once, not at every look. Lives on the executor's loop.
class PolicyKeeper {
 public:
  struct Callbacks {
    std::function<void(const codec::PolicyFile&)> taken;  // a new one; not for the first one
    std::function<void(const std::string&)> refused;      // why the file is not taken, with line and field
  };

  // kInvalid when the file cannot be read or used: nobody should start on a policy that is not what was
  // meant.
  [[nodiscard]] static base::Result<std::unique_ptr<PolicyKeeper>> open(const std::string& path,
                                                                        base::Executor& executor,
                                                                        telemetry::MetricsRegistry& metrics,
                                                                        base::Logger log);
  ~PolicyKeeper();
  PolicyKeeper(const PolicyKeeper&) = delete;
  PolicyKeeper& operator=(const PolicyKeeper&) = delete;

  // The last good one.
  [[nodiscard]] const codec::PolicyFile& file() const { return file_; }
  [[nodiscard]] const model::Policy& policy() const { return file_.policy; }
  void follow(Callbacks callbacks);

 private:
  PolicyKeeper(std::string path, base::Executor& executor, telemetry::MetricsRegistry& metrics,
               base::Logger log);
  base::Result<codec::PolicyFile> read();
  void look();
  void lookAgain();
  void noteRefused(const std::string& why);

  std::string path_;
  base::Executor& executor_;
  base::Logger log_;
  telemetry::Counter taken_;
  telemetry::Counter refused_;
  telemetry::Gauge lastGood_;
  Callbacks callbacks_;
  codec::PolicyFile file_;
  std::string text_;       // of the last look that could read the file
  std::string complaint_;  // empty while the file is good
  base::TimerId timer_{};
};

}  // namespace trainyard::operator_
