#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "codec/object_meta.h"
#include "kube/reflector.h"
#include "model/shared_list.h"

namespace trainyard::kube {

// How a cache keeps a type. Specialised in the headers of the caches (cluster_cache.h):
//   using Key; kKind for log lines; keyOf(object); keyOf(codec::ObjectMeta); same(before, after).
template <typename T>
struct CacheTraits;

// Returns a resourceVersion as a number. Versions of one type of one API server are ordered: documented since
// Kubernetes 1.35, and true for every etcd-backed server before. Returns nullopt if the text is no number;
// such versions are never compared.
[[nodiscard]] std::optional<std::uint64_t> versionNumber(std::string_view resourceVersion);

// Whether a write created an object or changed an existing one.
enum class WriteKind { kCreate, kUpdate };

// The newest known objects of one type, as immutable projections, fed by a reflector. A program that writes
// also feeds back the answers to its own writes. Its next decision then does not depend on a cache that lags
// behind its last one. Not thread-safe: all calls are made on one event loop.
template <typename T>
class ObjectCache final : public ReflectorSink {
 public:
  using Traits = CacheTraits<T>;
  using Key = typename Traits::Key;
  using Pointer = std::shared_ptr<const T>;
  using Decode = std::function<base::Result<T>(std::string_view)>;
  // `before` is null for a new object, `after` for a deleted one. If a list shows a deleted and re-created
  // object in one step, the listener gets one change with two uids.
  using Listener = std::function<void(const Pointer& before, const Pointer& after)>;

  ObjectCache(Decode decode, base::Logger log) : decode_(std::move(decode)), log_(std::move(log)) {}

  void onChange(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Null if there is none.
  [[nodiscard]] Pointer find(const Key& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  // Sorted by key. A returned list never changes.
  [[nodiscard]] model::SharedList<T> all() const {
    handedOut_ = true;
    return list_;
  }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  // The number of objects since the start that could not be decoded.
  [[nodiscard]] std::size_t undecodable() const { return undecodable_; }
  // The names and errors of the first of them, each once: "TrainingJob ml/a: why".
  [[nodiscard]] const std::set<std::string>& undecodableNames() const { return undecodableNames_; }

  // Takes the answer to a write. Returns true if the cache took it. It is not taken if the watch has already
  // passed it, or if an updated object is gone because the watch delivered its deletion first: both would
  // restore an old state. Without comparable versions only the watch counts.
  bool applyWrite(std::string_view object, WriteKind kind = WriteKind::kUpdate)
    requires requires(const T& value) {
      value.resourceVersion;
      value.uid;
    }
  {
    auto decoded = decodeOrReport(object);
    if (!decoded) return false;
    const auto version = versionNumber(decoded->resourceVersion);
    if (!version || *version <= delivered_) return false;
    const Key key = Traits::keyOf(*decoded);
    const Pointer before = find(key);
    if (!before && kind == WriteKind::kUpdate) return false;
    if (isGone(key, *decoded)) return false;
    if (before && versionNumber(before->resourceVersion).value_or(0) >= *version) return false;
    written_[key] = {};
    put(key, std::make_shared<const T>(std::move(*decoded)));
    return true;
  }

  // The API answered "not found" for a written object: drops that incarnation if it is still cached. Later
  // watch events are accepted, because a type that is temporarily not served is "not found" as well. States
  // before a write that the watch has not shown yet are not accepted.
  bool forget(const Key& key, std::string_view uid) {
    const Pointer before = find(key);
    if (!before || before->uid.str() != uid) return false;
    if (written_.contains(key)) forgotten_[key] = {std::string(uid), versionOf(*before)};
    take(key);
    return true;
  }

  // The answer to a write was the end of the object. A watch that lags or restarts at an older version may
  // still deliver the object; the cache ignores that.
  bool forgetForGood(const Key& key, std::string_view uid) {
    if (!forget(key, uid)) return false;
    gone_[key] = {std::string(uid)};
    return true;
  }

  void page(const std::vector<std::string>& objects, bool first) override {
    if (first) listed_.clear();
    for (const std::string& text : objects) {
      auto decoded = decodeOrReport(text);
      if (!decoded) {
        keepOld(text, listed_);
        continue;
      }
      const Key key = Traits::keyOf(*decoded);
      listed_[key] = sharedWith(find(key), std::move(*decoded));
    }
  }

  void listed(std::string_view resourceVersion) override {
    const std::uint64_t version = versionNumber(resourceVersion).value_or(0);
    // Only a server restored from a backup goes back in time: it lacks the writes made before the restore.
    if (version < delivered_) {
      written_.clear();
      gone_.clear();
      forgotten_.clear();
    }
    delivered_ = version;
    auto next = std::exchange(listed_, {});
    dropGone(next);
    dropForgotten(next);
    keepWritten(next);
    notifyDifferences(std::exchange(objects_, std::move(next)));
  }

  void upsert(std::string_view object) override {
    if (isEcho(object)) return;
    auto decoded = decodeOrReport(object);
    if (!decoded) return;
    noteDelivered(*decoded);
    const Key key = Traits::keyOf(*decoded);
    if (!isGone(key, *decoded) && !isForgotten(key, *decoded)) put(key, newerOf(key, std::move(*decoded)));
  }

  void remove(std::string_view object) override {
    const auto meta = codec::decodeObjectMeta(object);
    if (!meta) {
      report(meta.error());
      return;
    }
    if (const auto version = versionNumber(meta->resourceVersion))
      delivered_ = std::max(delivered_, *version);
    const Key key = Traits::keyOf(*meta);
    if (const auto gone = gone_.find(key); gone != gone_.end() && gone->second.uid == meta->uid)
      gone_.erase(gone);
    if (const auto known = forgotten_.find(key); known != forgotten_.end() && known->second.uid == meta->uid)
      forgotten_.erase(known);
    if constexpr (requires(const T& value) { value.resourceVersion; }) {
      // An object of the same name that was created in the meantime is another object.
      const Pointer known = find(key);
      if (known && written_.contains(key) && known->uid.str() != meta->uid) return;
    }
    take(key);
  }

 private:
  // The watch repeats each write. Its answer is decoded already, and the metadata is enough to detect that.
  bool isEcho(std::string_view object) {
    if constexpr (requires(const T& value) { value.resourceVersion; }) {
      if (written_.empty()) return false;
      const auto meta = codec::decodeObjectMeta(object);
      if (!meta) return false;
      const Key key = Traits::keyOf(*meta);
      const Pointer known = find(key);
      if (!known || known->uid.str() != meta->uid || known->resourceVersion != meta->resourceVersion)
        return false;
      if (written_.erase(key) == 0) return false;
      noteDelivered(*known);
      return true;
    } else {
      return false;
    }
  }

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

  // Removes objects from a list that is older than the last known write to them: it shows an old state.
  void dropForgotten(std::map<Key, Pointer>& listed) {
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
  void keepWritten(std::map<Key, Pointer>& listed) {
    for (auto written = written_.begin(); written != written_.end();) {
      const Pointer known = find(written->first);
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

  // A list may have begun before an object was deleted, but the next one did not: what that list shows was
  // restored with its uid from a backup.
  void dropGone(std::map<Key, Pointer>& listed) {
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

  base::Result<T> decodeOrReport(std::string_view text) {
    auto decoded = decode_(text);
    if (!decoded) report(decoded.error(), text);
    return decoded;
  }

  void report(const base::Error& error, std::string_view text = {}) {
    ++undecodable_;
    const auto meta = codec::decodeObjectMeta(text);
    if (undecodableNames_.size() < kMaxNamed)
      undecodableNames_.insert(fmt::format("{} {}{}{}: {}", Traits::kKind, meta ? meta->ns : "",
                                           meta && !meta->ns.empty() ? "/" : "", meta ? meta->name : "?",
                                           error.message));
    log_.error("object cannot be decoded; its previous state is kept",
               {{"kind", Traits::kKind},
                {"namespace", meta ? std::string_view(meta->ns) : std::string_view()},
                {"name", meta ? std::string_view(meta->name) : std::string_view("?")},
                {"error", error.message}});
  }

  void keepOld(std::string_view text, std::map<Key, Pointer>& next) const {
    const auto meta = codec::decodeObjectMeta(text);
    if (!meta) return;
    const Key key = Traits::keyOf(*meta);
    if (Pointer old = find(key)) next[key] = std::move(old);
  }

  // 0 if the object has no comparable version.
  static std::uint64_t versionOf(const T& object) {
    if constexpr (requires { object.resourceVersion; }) {
      return versionNumber(object.resourceVersion).value_or(0);
    } else {
      return 0;
    }
  }

  void noteDelivered(const T& object) { delivered_ = std::max(delivered_, versionOf(object)); }

  // Returns the cached object if it equals the delivered one.
  static Pointer sharedWith(const Pointer& known, T delivered) {
    if (known && Traits::same(*known, delivered)) return known;
    return std::make_shared<const T>(std::move(delivered));
  }

  // Returns the delivered object, unless a write of this program is known to be newer.
  Pointer newerOf(const Key& key, T delivered) {
    const Pointer known = find(key);
    if constexpr (requires { delivered.resourceVersion; }) {
      if (known && written_.contains(key)) {
        const auto mine = versionNumber(known->resourceVersion);
        const auto theirs = versionNumber(delivered.resourceVersion);
        if (mine && theirs && *theirs < *mine) return known;
        written_.erase(key);
      }
    }
    return sharedWith(known, std::move(delivered));
  }

  void put(const Key& key, Pointer after) {
    Pointer& slot = objects_[key];
    if (slot == after) return;
    const Pointer before = std::exchange(slot, after);
    auto& items = ownItems();
    const auto at = placeOf(items, key);
    if (before) {
      *at = after;
    } else {
      items.insert(at, after);
    }
    notify(before, after);
  }

  void take(const Key& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    const Pointer before = std::move(found->second);
    auto& items = ownItems();
    items.erase(placeOf(items, key));
    objects_.erase(found);
    written_.erase(key);
    notify(before, nullptr);
  }

  // Both maps are sorted: one pass finds the removed, changed and added objects.
  void notifyDifferences(const std::map<Key, Pointer>& before) {
    typename model::SharedList<T>::Items items;
    items.reserve(objects_.size());
    for (const auto& [key, object] : objects_) items.push_back(object);
    list_ = model::SharedList<T>(std::move(items));
    handedOut_ = false;
    std::vector<std::pair<Pointer, Pointer>> changes;
    auto old = before.begin();
    for (const auto& [key, after] : objects_) {
      for (; old != before.end() && old->first < key; ++old) changes.emplace_back(old->second, nullptr);
      const bool known = old != before.end() && old->first == key;
      if (!known) {
        changes.emplace_back(nullptr, after);
        continue;
      }
      if (old->second != after) changes.emplace_back(old->second, after);
      ++old;
    }
    for (; old != before.end(); ++old) changes.emplace_back(old->second, nullptr);
    for (const auto& [was, is] : changes) notify(was, is);
  }

  // Returns a list that no snapshot shares: the first change after a snapshot copies it, later ones do not.
  // (Lost: the list's reference count, which another thread may be changing.)
  typename model::SharedList<T>::Items& ownItems() {
    if (std::exchange(handedOut_, false)) list_ = model::SharedList<T>(list_.items());
    return list_.edit();
  }
  static auto placeOf(typename model::SharedList<T>::Items& items, const Key& key) {
    return std::lower_bound(items.begin(), items.end(), key, [](const Pointer& item, const Key& wanted) {
      return Traits::keyOf(*item) < wanted;
    });
  }

  void notify(const Pointer& before, const Pointer& after) {
    for (const Listener& listener : listeners_) listener(before, after);
  }

  Decode decode_;
  base::Logger log_;
  std::vector<Listener> listeners_;
  std::map<Key, Pointer> objects_;
  model::SharedList<T> list_;  // the same objects, in the same order
  mutable bool handedOut_ = false;
  struct Written {
    bool listed = false;  // a list has arrived since
  };
  std::map<Key, Written> written_;  // from own writes that the watch has not shown yet
  std::uint64_t delivered_ = 0;     // the newest version that list or watch delivered
  struct Gone {
    std::string uid;
    bool listed = false;  // a list has shown it since
  };
  std::map<Key, Gone> gone_;  // deleted by own writes that the watch has not shown yet
  struct Forgotten {
    std::string uid;
    std::uint64_t version = 0;  // the last known one, from an own write
  };
  std::map<Key, Forgotten> forgotten_;  // reported as not found; the watch is behind that version
  std::map<Key, Pointer> listed_;       // of the pages of the list in progress
  std::size_t undecodable_ = 0;
  static constexpr std::size_t kMaxNamed = 16;
  std::set<std::string> undecodableNames_;
};

}  // namespace trainyard::kube
