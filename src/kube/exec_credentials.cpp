#include "kube/exec_credentials.h"

#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "codec/exec_credential.h"
#include "kube/child_process.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::chrono::seconds kExpiryLeeway{10};
constexpr std::chrono::seconds kFailureRest{2};

base::Result<codec::ExecCredential> run(const ExecPlugin& plugin, const std::stop_token& stop) {
  ChildProcess child{.command = plugin.command, .args = plugin.args, .env = plugin.env};
  child.env.emplace_back("KUBERNETES_EXEC_INFO", plugin.info);
  const auto output = runChild(child, stop);
  if (!output) {
    std::string message = output.error().message;
    if (!plugin.installHint.empty()) message += "; " + plugin.installHint;
    return base::fail(ErrorCode::kUnavailable, std::move(message));
  }
  auto credential = codec::decodeExecCredential(*output, plugin.apiVersion);
  if (!credential) {
    return base::fail(ErrorCode::kUnavailable,
                      fmt::format("{}: its output: {}", plugin.command, credential.error().message));
  }
  // Certificates belong to the connection, not to the request; plug-ins of the large clouds return none.
  if (credential->token.empty()) {
    return base::fail(
        ErrorCode::kUnavailable,
        fmt::format("{}: returns a client certificate, only tokens are supported", plugin.command));
  }
  return credential;
}

class ExecCredentials final : public CredentialSource, public std::enable_shared_from_this<ExecCredentials> {
 public:
  ExecCredentials(ExecPlugin plugin, base::Executor& executor, base::Logger log)
      : plugin_(std::move(plugin)), executor_(executor), log_(std::move(log)) {}

  void authorization(AuthorizationCallback done) override {
    if (!value_.empty() && (!expiration_ || executor_.wallNow() + kExpiryLeeway < *expiration_)) {
      done(value_);
      return;
    }
    if (!problem_.empty() && executor_.now() < restUntil_) {
      done(base::fail(ErrorCode::kUnavailable, problem_));
      return;
    }
    waiting_.push_back(std::move(done));
    if (!running_) begin();
  }

  void refused(std::string_view value) override {
    if (value == value_) value_.clear();
  }

 private:
  void begin() {
    running_ = true;
    // Replacing the thread joins the previous one, which has posted its result and is about to end.
    thread_ = std::jthread(
        [plugin = plugin_, executor = &executor_, weak = weak_from_this()](const std::stop_token& stop) {
          auto credential = run(plugin, stop);
          if (stop.stop_requested()) return;
          executor->post([weak, credential = std::move(credential)] {
            if (const auto self = weak.lock()) self->finished(credential);
          });
        });
  }

  void finished(const base::Result<codec::ExecCredential>& credential) {
    running_ = false;
    problem_.clear();
    value_.clear();
    if (credential) {
      value_ = "Bearer " + credential->token;
      expiration_ = credential->expiration;
    } else {
      problem_ = credential.error().message;
      restUntil_ = executor_.now() + kFailureRest;
      log_.warning("credential plug-in failed", {{"error", problem_}});
    }
    // A token that is already expired is still returned once: the server decides.
    const std::string value = value_;
    const std::string problem = problem_;
    for (const AuthorizationCallback& done : std::exchange(waiting_, {})) {
      if (value.empty()) {
        done(base::fail(ErrorCode::kUnavailable, problem));
      } else {
        done(value);
      }
    }
  }

  const ExecPlugin plugin_;
  base::Executor& executor_;
  base::Logger log_;
  std::string value_;
  std::optional<base::WallTime> expiration_;
  std::string problem_;
  base::Instant restUntil_{};
  bool running_ = false;
  std::vector<AuthorizationCallback> waiting_;
  std::jthread thread_;  // last: joined before the other members are destroyed
};

// Owns the source by shared_ptr, so that late results find an expired weak_ptr.
class Owner final : public CredentialSource {
 public:
  explicit Owner(std::shared_ptr<ExecCredentials> source) : source_(std::move(source)) {}
  void authorization(AuthorizationCallback done) override { source_->authorization(std::move(done)); }
  void refused(std::string_view value) override { source_->refused(value); }

 private:
  std::shared_ptr<ExecCredentials> source_;
};

}  // namespace

std::unique_ptr<CredentialSource> makeExecCredentials(ExecPlugin plugin, base::Executor& executor,
                                                      base::Logger log) {
  return std::make_unique<Owner>(
      std::make_shared<ExecCredentials>(std::move(plugin), executor, std::move(log)));
}

}  // namespace trainyard::kube
