#pragma once

#include <string>
#include <string_view>

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Sets the expiry metric to the end of the first certificate in the text; does nothing without a certificate.
// `certificate` is authority, server or client.
void noteCertificateExpiry(MetricsRegistry& metrics, std::string_view certificate, const std::string& pem);

}  // namespace trainyard::telemetry
