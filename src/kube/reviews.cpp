#include "kube/reviews.h"

#include <cstddef>
#include <utility>

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::kube {
namespace {

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr std::string_view kTokenId = "authentication.kubernetes.io/credential-id";
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 10;

void post(ApiClient& api, const char* path, std::string body,
          std::function<void(base::Result<std::string>)> done) {
  ApiRequest request{.method = net::Method::kPost, .path = path, .body = std::move(body)};
  request.maxAnswerBytes = kMaxAnswerBytes;
  request.review = true;
  api.request(std::move(request), [done = std::move(done)](base::Result<ApiResponse> result) {
    if (!result) return done(base::fail(base::ErrorCode::kUnavailable, result.error().message));
    done(std::move(result->body));
  });
}

TokenOwner ownerOf(std::string_view review) {
  const auto document = codec::JsonDocument::parse(review);
  const codec::JsonValue status = document ? document->root().find("status") : codec::JsonValue();
  const codec::JsonValue user = status.find("user");
  TokenOwner owner{.user = std::string(user.find("username").string().value_or(""))};
  owner.known = status.find("authenticated").boolean().value_or(false) && !owner.user.empty();
  codec::JsonWriter out;
  codec::JsonWriter identity;
  for (auto* each : {&out, &identity})
    each->member("user", owner.user).member("uid", user.find("uid").string().value_or(""));
  if (user.find("groups").present()) {
    for (auto* each : {&out, &identity}) each->key("groups").raw(user.find("groups").minified());
  }
  if (user.find("extra").present()) out.key("extra").raw(user.find("extra").minified());
  user.find("extra").forEachMember([&](std::string_view key, codec::JsonValue value) {
    if (key != kTokenId) identity.key(key).raw(value.canonical());
  });
  owner.subject = std::move(out).take();
  owner.identity = std::move(identity).take();
  return owner;
}

std::string bodyOf(const TokenOwner& owner, const AccessQuestion& question) {
  codec::JsonWriter out;
  out.beginObject().member("apiVersion", "authorization.k8s.io/v1").member("kind", "SubjectAccessReview");
  out.key("spec").beginObject().raw(owner.subject);
  if (!question.path.empty()) {
    out.key("nonResourceAttributes").beginObject();
    out.member("verb", question.verb).member("path", question.path);
  } else {
    out.key("resourceAttributes").beginObject().member("verb", question.verb);
    if (!question.group.empty()) out.member("group", question.group);
    out.member("resource", question.resource).member("namespace", question.ns);
  }
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

bool allowed(std::string_view review) {
  const auto document = codec::JsonDocument::parse(review);
  if (!document) return false;
  const codec::JsonValue status = document->root().find("status");
  return status.find("allowed").boolean().value_or(false) && !status.find("denied").boolean().value_or(false);
}

}  // namespace

void reviewToken(ApiClient& api, const std::string& token,
                 std::function<void(base::Result<TokenOwner>)> done) {
  codec::JsonWriter out;
  out.beginObject().member("apiVersion", "authentication.k8s.io/v1").member("kind", "TokenReview");
  out.key("spec").beginObject().member("token", token).endObject().endObject();
  post(api, kTokenReviews, std::move(out).take(), [done = std::move(done)](base::Result<std::string> review) {
    if (!review) return done(base::fail(review.error()));
    done(ownerOf(*review));
  });
}

void reviewAccess(ApiClient& api, const TokenOwner& owner, const AccessQuestion& question,
                  std::function<void(base::Result<bool>)> done) {
  post(api, kAccessReviews, bodyOf(owner, question),
       [done = std::move(done)](base::Result<std::string> review) {
         if (!review) return done(base::fail(review.error()));
         done(allowed(*review));
       });
}

}  // namespace trainyard::kube
