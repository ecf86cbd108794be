#include "codec/membership.h"

#include "codec/json_writer.h"

namespace trainyard::codec {

std::string encodeMembership(const model::Membership& membership) {
  JsonWriter out;
  out.beginObject()
      .member("generation", membership.generation)
      .member("role", membership.role)
      .member("size", membership.size)
      .endObject();
  return std::move(out).take();
}

std::string encodeMembershipPatch(const model::Uid& uid, std::string_view resourceVersion,
                                  const model::Membership& membership) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str());
  out.member("resourceVersion", resourceVersion);
  out.key("annotations").beginObject();
  out.member(model::kMembershipAnnotation, encodeMembership(membership));
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
