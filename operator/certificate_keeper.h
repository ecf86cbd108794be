#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "codec/secret.h"
#include "kube/api_client.h"
#include "operator/certificate_plan.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Makes the certificates between kube-scheduler and the extender, and renews them in time. Uses three Secrets
// that must exist: SERVICE-ca, SERVICE-tls and SERVICE-client, in the namespace of the Service. The
// annotation trainyard.dev/renew on one of them renews it within a minute. Polls every minute: a watch of
// Secrets by name would cost more than three reads, and nothing here is urgent. Lives on the executor's loop;
// runs on the leader only.
class CertificateKeeper {
 public:
  CertificateKeeper(CertificateOptions options, kube::ApiClient& api, base::Executor& executor,
                    telemetry::MetricsRegistry& metrics, base::Logger log);
  ~CertificateKeeper();
  CertificateKeeper(const CertificateKeeper&) = delete;
  CertificateKeeper& operator=(const CertificateKeeper&) = delete;

  void start();

 private:
  enum Which { kAuthority, kServer, kClient };
  static constexpr std::size_t kSecrets = 3;

  void read(std::size_t which);
  void decide();
  void write(std::size_t which);
  void again(base::Instant::duration delay);
  void failed(const std::string& what, const base::Error& error);
  void reportExpiry(std::size_t which);
  [[nodiscard]] std::string nameOf(std::size_t which) const;

  CertificateOptions options_;
  kube::ApiClient& api_;
  base::Executor& executor_;
  telemetry::MetricsRegistry& metrics_;
  base::Logger log_;
  std::array<codec::Secret, kSecrets> secrets_;
  std::array<SecretData, kSecrets> changes_;
  base::TimerId timer_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
