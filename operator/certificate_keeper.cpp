#include "operator/certificate_keeper.h"

#include <chrono>
#include <utility>

#include "kube/paths.h"
#include "net/certificates.h"
#include "telemetry/certificate_expiry.h"

namespace trainyard::operator_ {
namespace {

constexpr std::chrono::seconds kCertificateCheck{60};
constexpr std::chrono::seconds kCertificateRetry{5};

}  // namespace

CertificateKeeper::CertificateKeeper(CertificateOptions options, kube::ApiClient& api,
                                     base::Executor& executor, telemetry::MetricsRegistry& metrics,
                                     base::Logger log)
    : options_(std::move(options)), api_(api), executor_(executor), metrics_(metrics), log_(std::move(log)) {}

CertificateKeeper::~CertificateKeeper() {
  *alive_ = false;
  executor_.cancel(timer_);
}

void CertificateKeeper::start() { read(0); }

std::string CertificateKeeper::nameOf(std::size_t which) const {
  constexpr std::array<std::string_view, kSecrets> kSuffixes{"-ca", "-tls", "-client"};
  return options_.service + std::string(kSuffixes[which]);
}

// Reads the Secrets one after the other and then calls decide(), which thus sees one round of reads.
void CertificateKeeper::read(std::size_t which) {
  if (which == kSecrets) return decide();
  api_.get(kube::kSecrets.object(options_.ns, nameOf(which)),
           [this, which, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
             if (!*alive) return;
             if (!answer) return failed("certificates not read", answer.error());
             auto secret = codec::decodeSecret(answer->body);
             if (!secret) return failed("certificates not read", secret.error());
             secrets_[which] = std::move(*secret);
             reportExpiry(which);
             read(which + 1);
           });
}

void CertificateKeeper::decide() {
  const CertificateState state{.authority = secrets_[kAuthority].data,
                               .server = secrets_[kServer].data,
                               .client = secrets_[kClient].data,
                               .renewAuthority = secrets_[kAuthority].renew,
                               .renewServer = secrets_[kServer].renew,
                               .renewClient = secrets_[kClient].renew};
  auto plan = planCertificates(state, options_, executor_.wallNow());
  if (!plan) return failed("certificates not made", plan.error());
  changes_ = {std::move(plan->authority), std::move(plan->server), std::move(plan->client)};
  write(0);
}

// Writes the authority first: a certificate signed by an authority that was never stored must be reissued.
void CertificateKeeper::write(std::size_t which) {
  if (which == kSecrets) return again(kCertificateCheck);
  if (changes_[which].empty() && !secrets_[which].renew) return write(which + 1);
  api_.patch(kube::PatchType::kMerge, kube::kSecrets.object(options_.ns, nameOf(which)),
             codec::encodeSecretPatch(secrets_[which].resourceVersion, changes_[which]),
             [this, which, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
               if (!*alive) return;
               if (!answer) return failed("certificates not written", answer.error());
               log_.info("certificates written", {{"secret", options_.ns + "/" + nameOf(which)}});
               if (auto secret = codec::decodeSecret(answer->body)) secrets_[which] = std::move(*secret);
               reportExpiry(which);
               write(which + 1);
             });
}

void CertificateKeeper::again(base::Instant::duration delay) {
  timer_ = executor_.postAfter(delay, [this] { read(0); });
}

void CertificateKeeper::failed(const std::string& what, const base::Error& error) {
  log_.warning(what, {{"error", error.message}});
  again(kCertificateRetry);
}

void CertificateKeeper::reportExpiry(std::size_t which) {
  constexpr std::array<std::string_view, kSecrets> kNames{"authority", "server", "client"};
  const auto& data = secrets_[which].data;
  const auto text = data.find(which == kAuthority ? "ca.crt" : "tls.crt");
  if (text == data.end()) return;
  telemetry::noteCertificateExpiry(metrics_, kNames[which], text->second);
}

}  // namespace trainyard::operator_
