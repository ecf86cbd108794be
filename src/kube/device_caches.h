#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "codec/device.h"
#include "kube/object_cache.h"
#include "kube/paths.h"
#include "model/device.h"

namespace trainyard::kube {

inline constexpr ResourceType kResourceSlices{"resource.k8s.io", "v1", "resourceslices", false};
inline constexpr ResourceType kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses", false};
inline constexpr ResourceType kResourceClaimTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates"};
inline constexpr ResourceType kResourceClaims{"resource.k8s.io", "v1", "resourceclaims"};

template <>
struct CacheTraits<model::ResourceSlice> {
  using Key = std::string;
  static constexpr std::string_view kKind = "ResourceSlice";
  static const Key& keyOf(const model::ResourceSlice& object) { return object.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::ResourceSlice& before, const model::ResourceSlice& after) {
    return before == after;
  }
};

template <>
struct CacheTraits<model::DeviceClass> {
  using Key = std::string;
  static constexpr std::string_view kKind = "DeviceClass";
  static const Key& keyOf(const model::DeviceClass& object) { return object.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::DeviceClass& before, const model::DeviceClass& after) {
    return before == after;
  }
};

template <>
struct CacheTraits<model::ResourceClaimTemplate> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "ResourceClaimTemplate";
  static const Key& keyOf(const model::ResourceClaimTemplate& object) { return object.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::ResourceClaimTemplate& before, const model::ResourceClaimTemplate& after) {
    return before == after;
  }
};

template <>
struct CacheTraits<model::ResourceClaim> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "ResourceClaim";
  static const Key& keyOf(const model::ResourceClaim& object) { return object.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::ResourceClaim& before, const model::ResourceClaim& after) {
    return before == after;
  }
};

// The caches of devices, apart from ClusterCache, because their kinds may not be served: before
// Kubernetes 1.34 the API of this version does not exist.
struct DeviceCaches {
  explicit DeviceCaches(const base::Logger& log)
      : slices(codec::decodeResourceSlice, log),
        classes(codec::decodeDeviceClass, log),
        templates(codec::decodeResourceClaimTemplate, log),
        claims(codec::decodeResourceClaim, log) {}

  [[nodiscard]] model::Devices all() const {
    return {slices.all(), classes.all(), templates.all(), claims.all()};
  }

  ObjectCache<model::ResourceSlice> slices;
  ObjectCache<model::DeviceClass> classes;
  ObjectCache<model::ResourceClaimTemplate> templates;
  ObjectCache<model::ResourceClaim> claims;
};

}  // namespace trainyard::kube
