#pragma once

#include <functional>

#include "base/log.h"
#include "codec/volume.h"
#include "kube/object_cache.h"
#include "kube/paths.h"
#include "model/volume.h"

namespace trainyard::kube {

inline constexpr ResourceType kVolumeClaims{"", "v1", "persistentvolumeclaims"};
inline constexpr ResourceType kVolumes{"", "v1", "persistentvolumes", false};
inline constexpr ResourceType kStorageClasses{"storage.k8s.io", "v1", "storageclasses", false};

inline constexpr ResourceType kCsiDrivers{"storage.k8s.io", "v1", "csidrivers", false};
inline constexpr ResourceType kCsiNodes{"storage.k8s.io", "v1", "csinodes", false};

template <>
struct CacheTraits<model::VolumeClaim> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "PersistentVolumeClaim";
  static const Key& keyOf(const model::VolumeClaim& claim) { return claim.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::VolumeClaim& before, const model::VolumeClaim& after) {
    return before == after;
  }
};

template <>
struct CacheTraits<model::Volume> {
  using Key = std::string;
  static constexpr std::string_view kKind = "PersistentVolume";
  static const Key& keyOf(const model::Volume& volume) { return volume.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::Volume& before, const model::Volume& after) { return before == after; }
};

template <>
struct CacheTraits<model::StorageClass> {
  using Key = std::string;
  static constexpr std::string_view kKind = "StorageClass";
  static const Key& keyOf(const model::StorageClass& storageClass) { return storageClass.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::StorageClass& before, const model::StorageClass& after) {
    return before == after;
  }
};

template <>
struct CacheTraits<model::CsiDriver> {
  using Key = std::string;
  static constexpr std::string_view kKind = "CSIDriver";
  static const Key& keyOf(const model::CsiDriver& driver) { return driver.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::CsiDriver& before, const model::CsiDriver& after) { return before == after; }
};

template <>
struct CacheTraits<model::CsiNode> {
  using Key = model::NodeName;
  static constexpr std::string_view kKind = "CSINode";
  static const Key& keyOf(const model::CsiNode& node) { return node.node; }
  static Key keyOf(const codec::ObjectMeta& meta) { return Key(meta.name); }
  static bool same(const model::CsiNode& before, const model::CsiNode& after) { return before == after; }
};

// The caches of volumes, separate from ClusterCache because only programs that compute placements watch them.
struct VolumeCaches {
  explicit VolumeCaches(const base::Logger& log)
      : claims(codec::decodeVolumeClaim, log),
        volumes(codec::decodeVolume, log),
        classes(codec::decodeStorageClass, log),
        drivers(codec::decodeCsiDriver, log),
        csiNodes(codec::decodeCsiNode, log) {}

  // Sorted by key, because lists of the API server may be unsorted.
  [[nodiscard]] model::Volumes all() const {
    return {.claims = claims.all(),
            .volumes = volumes.all(),
            .classes = classes.all(),
            .drivers = drivers.all(),
            .csiNodes = csiNodes.all()};
  }

  ObjectCache<model::VolumeClaim> claims;
  ObjectCache<model::Volume> volumes;
  ObjectCache<model::StorageClass> classes;
  ObjectCache<model::CsiDriver> drivers;
  ObjectCache<model::CsiNode> csiNodes;
};

}  // namespace trainyard::kube
