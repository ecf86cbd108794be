#include "telemetry/certificate_expiry.h"

#include <chrono>

#include "net/certificates.h"

namespace trainyard::telemetry {

void noteCertificateExpiry(MetricsRegistry& metrics, std::string_view certificate, const std::string& pem) {
  const auto facts = net::inspectCertificate(pem);
  if (!facts) return;
  const auto until = std::chrono::floor<std::chrono::seconds>(facts->validity.until).time_since_epoch();
  metrics
      .gauge("trainyard_certificate_expiry_timestamp_seconds",
             "Expiry of a certificate between kube-scheduler and the extender.",
             {{"certificate", std::string(certificate)}})
      .set(static_cast<double>(until.count()));
}

}  // namespace trainyard::telemetry
