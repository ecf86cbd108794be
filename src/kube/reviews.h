#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/api_client.h"

namespace trainyard::kube {

// The owner of a token according to the API server.
struct TokenOwner {
  bool known = false;  // false for an invalid token
  std::string user = {};
  std::string subject = {};  // as members of a JSON object, for reviews
  // `subject` without the parts that differ between tokens of one identity; such tokens have equal rights.
  std::string identity = {};
};

// A requested access: with a path, to that path of a server; otherwise to a resource.
struct AccessQuestion {
  std::string_view verb;
  std::string_view path = {};
  std::string_view group = {};
  std::string_view resource = {};
  std::string_view ns = {};  // empty: all of them
};

// Sends a TokenReview. Only an answer of the API server is a result. A failed review is kUnavailable, also if
// the API server refuses this program itself: that neither grants access nor is a verdict on the token.
void reviewToken(ApiClient& api, const std::string& token,
                 std::function<void(base::Result<TokenOwner>)> done);

// Sends a SubjectAccessReview, with the same rule.
void reviewAccess(ApiClient& api, const TokenOwner& owner, const AccessQuestion& question,
                  std::function<void(base::Result<bool>)> done);

}  // namespace trainyard::kube
