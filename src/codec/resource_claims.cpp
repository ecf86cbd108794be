#include "codec/resource_claims.h"

#include <algorithm>
#include <utility>

#include "codec/json_value.h"

namespace trainyard::codec {

std::vector<ResourceClaimName> resourceClaimsOf(const model::Job& job) {
  std::vector<ResourceClaimName> claims;
  for (const model::Role& role : job.spec.roles) {
    if (role.templateJson.find("\"resourceClaims\"") == std::string::npos) continue;
    const auto document = JsonDocument::parse(role.templateJson);
    if (!document) continue;
    document->root().find("spec").find("resourceClaims").forEachElement([&](JsonValue each) {
      const auto own = each.find("resourceClaimName").string();
      const auto made = each.find("resourceClaimTemplateName").string();
      if (!own && !made) return;
      ResourceClaimName claim{role.name, !own.has_value(), std::string(own ? *own : *made)};
      const bool known = std::any_of(claims.begin(), claims.end(), [&](const auto& other) {
        return other.isTemplate == claim.isTemplate && other.name == claim.name;
      });
      if (!known) claims.push_back(std::move(claim));
    });
  }
  return claims;
}

}  // namespace trainyard::codec
