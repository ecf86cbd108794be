#include "kube/credentials.h"

#include <fmt/format.h>

#include "base/file.h"

namespace trainyard::kube {
namespace {

constexpr std::chrono::seconds kReread{60};
constexpr std::size_t kMaxTokenBytes = 1u << 20;

class StaticCredentials final : public CredentialSource {
 public:
  explicit StaticCredentials(std::string value) : value_(std::move(value)) {}
  void authorization(AuthorizationCallback done) override { done(value_); }
  void refused(std::string_view) override {}

 private:
  std::string value_;
};

base::Result<std::string> readToken(const std::string& path) {
  auto read = base::readFile(path, kMaxTokenBytes);
  if (!read)
    return base::fail(base::ErrorCode::kUnavailable, fmt::format("token file {}", read.error().message));
  std::string text = std::move(*read);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.empty())
    return base::fail(base::ErrorCode::kUnavailable, fmt::format("token file {} is empty", path));
  // A line break would split the HTTP header into two.
  if (text.find_first_of("\r\n") != std::string::npos || text.find('\0') != std::string::npos) {
    return base::fail(base::ErrorCode::kUnavailable,
                      fmt::format("token file {} has more than one line", path));
  }
  return text;
}

// The file is read on the event loop: it has a few kilobytes on a local or memory file system, so a thread
// would cost more than it saves.
class TokenFileCredentials final : public CredentialSource {
 public:
  TokenFileCredentials(std::string path, base::Executor& executor, base::Logger log)
      : path_(std::move(path)), executor_(executor), log_(std::move(log)) {}

  void authorization(AuthorizationCallback done) override {
    if (value_.empty() || executor_.now() >= rereadAt_) read();
    if (value_.empty()) {
      done(base::fail(base::ErrorCode::kUnavailable, problem_));
      return;
    }
    done(value_);
  }

  void refused(std::string_view value) override {
    if (value == value_) value_.clear();
  }

 private:
  void read() {
    auto token = readToken(path_);
    rereadAt_ = executor_.now() + kReread;
    if (token) {
      value_ = "Bearer " + *token;
      return;
    }
    problem_ = token.error().message;
    log_.warning("token not read", {{"error", problem_}});
  }

  std::string path_;
  base::Executor& executor_;
  base::Logger log_;
  std::string value_;
  std::string problem_;
  base::Instant rereadAt_{};
};

}  // namespace

std::unique_ptr<CredentialSource> makeStaticCredentials(std::string value) {
  return std::make_unique<StaticCredentials>(std::move(value));
}

std::unique_ptr<CredentialSource> makeTokenFileCredentials(std::string path, base::Executor& executor,
                                                           base::Logger log) {
  return std::make_unique<TokenFileCredentials>(std::move(path), executor, std::move(log));
}

}  // namespace trainyard::kube
