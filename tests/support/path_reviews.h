#pragma once

#include <set>
#include <string>

#include <fmt/format.h>

#include "support/fake_api.h"

namespace trainyard::test {

// Accepts the tokens "USER-token" of its users, and allows some of them to get /metrics.
class PathReviews final : public FakeApi {
 public:
  using FakeApi::FakeApi;

  std::set<std::string> users;
  std::set<std::string> readers;
  int tokens = 0;  // number of token reviews
  int paths = 0;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    const auto has = [&](const std::string& text) { return request.body.find(text) != std::string::npos; };
    if (request.path.ends_with("tokenreviews")) {
      ++tokens;
      for (const std::string& user : users) {
        if (has(fmt::format(R"("token":"{}-token")", user)))
          return kube::ApiResponse{
              201, fmt::format(R"({{"status":{{"authenticated":true,"user":{{"username":"{}"}}}}}})", user)};
      }
      return kube::ApiResponse{201, R"({"status":{"error":"no"}})"};
    }
    ++paths;
    bool may = has(R"("nonResourceAttributes":{"verb":"get","path":"/metrics"})");
    bool reader = false;
    for (const std::string& user : readers) reader = reader || has(fmt::format(R"("user":"{}")", user));
    may = may && reader;
    return kube::ApiResponse{201, fmt::format(R"({{"status":{{"allowed":{}}}}})", may)};
  }
};

}  // namespace trainyard::test
