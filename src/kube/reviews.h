#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/api_client.h"

namespace trainyard::kube {

// Whose a token is, as the API server says.
struct TokenOwner {
  bool known = false;  // else nobody's
  std::string user = {};
  std::string subject = {};  // of reviews: members of a JSON object
  // The same without what tells one token of his from another: two tokens of one identity may do the same.
  std::string identity = {};
};

// What somebody may or may not do: with a path, to that path of a server; else to a resource.
struct AccessQuestion {
  std::string_view verb;
  std::string_view path = {};
  std::string_view group = {};
  std::string_view resource = {};
  std::string_view ns = {};  // empty: all of them
};

// TokenReview. Only an answer of the API server counts. Whatever cannot be asked is kUnavailable, also where
// it is this program that the API server refuses: neither a yes, nor anything about who is asked about.
void reviewToken(ApiClient& api, const std::string& token,
                 std::function<void(base::Result<TokenOwner>)> done);

// SubjectAccessReview, by the same rule.
void reviewAccess(ApiClient& api, const TokenOwner& owner, const AccessQuestion& question,
                  std::function<void(base::Result<bool>)> done);

}  // namespace trainyard::kube
