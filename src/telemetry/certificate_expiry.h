#pragma once

#include <string>
#include <string_view>

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Says when a certificate ends, of the first one in the text; says nothing of a text without any.
// `certificate`: authority, server or client.
void noteCertificateExpiry(MetricsRegistry& metrics, std::string_view certificate, const std::string& pem);

}  // namespace trainyard::telemetry
