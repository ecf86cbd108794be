#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kube/cached_objects.h"
#include "kube/resource_version.h"

namespace trainyard::kube {

// Whether a write created an object or changed an existing one.
enum class WriteKind { kCreate, kUpdate };

// The answers to this program's own writes that the watch has not shown yet. They decide between a cached
// object and a state that list or watch deliver late.
template <typename T>
class OwnWrites {
 public:
  using Objects = CachedObjects<T>;
  using Key = typename Objects::Key;
  using Pointer = typename Objects::Pointer;
  using Map = typename Objects::Map;

  // Whether the answer to a write is newer than all that is known. `cached`: the object of its key, or null.
  [[nodiscard]] bool accepts(const Key& key, const T& answer, const Pointer& cached, WriteKind kind) const {
    const auto version = versionNumber(answer.resourceVersion);
    if (!version || *version <= delivered_) return false;
    if (!cached && kind == WriteKind::kUpdate) return false;
    if (isGone(key, answer)) return false;
    return !cached || versionOf(*cached) < *version;
  }
  // The answer to a write was put into the cache.
  void written(const Key& key) { written_[key] = {}; }
  // The API answered "not found" for the cached object.
  void notFound(const Key& key, const T& cached) {
    if (written_.contains(key)) forgotten_[key] = {cached.uid.str(), versionOf(cached)};
  }
  // The answer to a write was the end of the object.
  void ended(const Key& key, std::string_view uid) { gone_[key] = {std::string(uid)}; }
  // The cache no longer has an object of this key.
  void dropped(const Key& key) { written_.erase(key); }

  [[nodiscard]] bool contains(const Key& key) const { return written_.contains(key); }
  [[nodiscard]] bool empty() const { return written_.empty(); }

  // The list or the watch delivered this version.
  void noteDelivered(std::uint64_t version) { delivered_ = std::max(delivered_, version); }
  // The watch shows the cached object. Returns true if that is the answer to a write.
  bool confirm(const Key& key, const T& cached) {
    if (written_.erase(key) == 0) return false;
    noteDelivered(versionOf(cached));
    return true;
  }
  // Whether the watch delivers a state from before a write that ended the object, or found it missing.
  [[nodiscard]] bool isOutdated(const Key& key, const T& delivered) const {
    return isGone(key, delivered) || isForgotten(key, delivered);
  }
  // Whether the cached object comes from a write that is newer than what the watch delivers; if not, the
  // watch has caught up with that write.
  [[nodiscard]] bool isNewer(const Key& key, const T& cached, const T& delivered) {
    if (!written_.contains(key)) return false;
    const auto mine = versionNumber(cached.resourceVersion);
    const auto theirs = versionNumber(delivered.resourceVersion);
    if (mine && theirs && *theirs < *mine) return true;
    written_.erase(key);
    return false;
  }
  // The watch delivered the deletion of this incarnation.
  void deletionShown(const Key& key, std::string_view uid) {
    if (const auto gone = gone_.find(key); gone != gone_.end() && gone->second.uid == uid) gone_.erase(gone);
    if (const auto known = forgotten_.find(key); known != forgotten_.end() && known->second.uid == uid)
      forgotten_.erase(known);
  }

  // Corrects a list of this version by the writes that it does not show yet.
  void correct(Map& listed, std::uint64_t version, const Objects& cached) {
    // Only a server restored from a backup goes back in time: it lacks the writes made before the restore.
    if (version < delivered_) {
      written_.clear();
      gone_.clear();
      forgotten_.clear();
    }
    delivered_ = version;
    dropGone(listed);
    dropForgotten(listed);
    keepWritten(listed, cached);
  }

 private:
  struct Written {
    bool listed = false;  // a list has arrived since
  };
  struct Gone {
    std::string uid;
    bool listed = false;  // a list has shown it since
  };
  struct Forgotten {
    std::string uid;
    std::uint64_t version = 0;  // the last known one, from an own write
  };

  [[nodiscard]] bool isGone(const Key& key, const T& object) const {
    if constexpr (requires { object.uid; }) {
      const auto gone = gone_.find(key);
      return gone != gone_.end() && gone->second.uid == object.uid.str();
    } else {
      return false;
    }
  }

  [[nodiscard]] bool isForgotten(const Key& key, const T& object) const {
    if constexpr (requires { object.uid; }) {
      const auto known = forgotten_.find(key);
      return known != forgotten_.end() && known->second.uid == object.uid.str() &&
             versionOf(object) < known->second.version;
    } else {
      return false;
    }
  }

  // A list may have begun before an object was deleted, but the next one did not: what that list shows was
  // restored with its uid from a backup.
  void dropGone(Map& listed) {
    for (auto gone = gone_.begin(); gone != gone_.end();) {
      const auto shown = listed.find(gone->first);
      const bool late = shown != listed.end() && isGone(gone->first, *shown->second);
      if (!late || std::exchange(gone->second.listed, true)) {
        gone = gone_.erase(gone);
        continue;
      }
      listed.erase(shown);
      ++gone;
    }
  }

  // Removes objects from a list that is older than the last known write to them: it shows an old state.
  void dropForgotten(Map& listed) {
    for (auto known = forgotten_.begin(); known != forgotten_.end();) {
      if (known->second.version <= delivered_) {
        known = forgotten_.erase(known);
        continue;
      }
      const auto shown = listed.find(known->first);
      if (shown != listed.end() && isForgotten(known->first, *shown->second)) listed.erase(shown);
      ++known;
    }
  }

  // A list that arrives late is older than writes made in the meantime; the watch from its version on
  // delivers them. The next list is newer: what it lacks is gone, or is missing in a restored backup.
  void keepWritten(Map& listed, const Objects& cached) {
    for (auto written = written_.begin(); written != written_.end();) {
      const Pointer known = cached.find(written->first);
      const auto shown = listed.find(written->first);
      const std::uint64_t version = shown == listed.end() ? delivered_ : versionOf(*shown->second);
      if (std::exchange(written->second.listed, true) || versionOf(*known) <= version) {
        written = written_.erase(written);
        continue;
      }
      listed[written->first] = known;
      ++written;
    }
  }

  std::map<Key, Written> written_;      // from own writes that the watch has not shown yet
  std::uint64_t delivered_ = 0;         // the newest version that list or watch delivered
  std::map<Key, Gone> gone_;            // deleted by own writes that the watch has not shown yet
  std::map<Key, Forgotten> forgotten_;  // reported as not found; the watch is behind that version
};

}  // namespace trainyard::kube
