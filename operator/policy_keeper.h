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

// Follows the policy file. Reads it again every few seconds and compares its content: a ConfigMap volume
// changes by a swapped link, which no watch on the file itself would see. An unusable file changes nothing
// and is reported once, not at every read. Lives on the executor's loop.
class PolicyKeeper {
 public:
  struct Callbacks {
    std::function<void(const codec::PolicyFile&)> taken;  // a changed policy; not for the first one
    std::function<void(const std::string&)> refused;      // why the file is not taken, with line and field
  };

  // kInvalid if the file cannot be read or used: a program must not start with a policy other than the
  // intended one.
  [[nodiscard]] static base::Result<std::unique_ptr<PolicyKeeper>> open(const std::string& path,
                                                                        base::Executor& executor,
                                                                        telemetry::MetricsRegistry& metrics,
                                                                        base::Logger log);
  ~PolicyKeeper();
  PolicyKeeper(const PolicyKeeper&) = delete;
  PolicyKeeper& operator=(const PolicyKeeper&) = delete;

  // The last usable policy file.
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
