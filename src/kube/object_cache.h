#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "codec/object_meta.h"
#include "kube/cached_objects.h"
#include "kube/own_writes.h"
#include "kube/reflector.h"
#include "kube/undecodable_objects.h"
#include "model/shared_list.h"

namespace trainyard::kube {

// The newest known objects of one type, as immutable projections, fed by a reflector. A program that writes
// also feeds back the answers to its own writes. Its next decision then does not depend on a cache that lags
// behind its last one. Not thread-safe: all calls are made on one event loop.
//
// An object that cannot be decoded is counted, and its previous state is kept. If Traits::standInFor(text)
// returns an object, that one replaces the previous state: a pod must count on its node in any case.
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

  ObjectCache(Decode decode, base::Logger log)
      : decode_(std::move(decode)), undecodable_(Traits::kKind, std::move(log)) {}

  void onChange(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Null if there is none.
  [[nodiscard]] Pointer find(const Key& key) const { return objects_.find(key); }
  // Sorted by key. A returned list never changes.
  [[nodiscard]] model::SharedList<T> all() const { return objects_.all(); }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  // Calls the listener for each object that cannot be decoded.
  void onUndecodable(std::function<void()> listener) { undecodable_.onReport(std::move(listener)); }
  // The number of objects since the start that could not be decoded.
  [[nodiscard]] std::size_t undecodable() const { return undecodable_.count(); }
  // The names and errors of the first of them, each once: "TrainingJob ml/a: why".
  [[nodiscard]] const std::set<std::string>& undecodableNames() const { return undecodable_.names(); }

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
    const Key key = Traits::keyOf(*decoded);
    if (!writes_.accepts(key, *decoded, find(key), kind)) return false;
    writes_.written(key);
    put(key, std::make_shared<const T>(std::move(*decoded)));
    return true;
  }

  // The API answered "not found" for a written object: drops that incarnation if it is still cached. Later
  // watch events are accepted, because a type that is temporarily not served is "not found" as well. States
  // before a write that the watch has not shown yet are not accepted.
  bool forget(const Key& key, std::string_view uid) {
    const Pointer before = find(key);
    if (!before || before->uid.str() != uid) return false;
    writes_.notFound(key, *before);
    take(key);
    return true;
  }

  // The answer to a write was the end of the object. A watch that lags or restarts at an older version may
  // still deliver the object; the cache ignores that.
  bool forgetForGood(const Key& key, std::string_view uid) {
    if (!forget(key, uid)) return false;
    writes_.ended(key, uid);
    return true;
  }

  void page(const std::vector<std::string>& objects, bool first) override {
    if (first) listed_.clear();
    for (const std::string& text : objects) {
      auto decoded = decodeOrReport(text);
      if (!decoded) {
        keepOld(text);
        continue;
      }
      const Key key = Traits::keyOf(*decoded);
      listed_[key] = sharedWith(find(key), std::move(*decoded));
    }
  }

  void listed(std::string_view resourceVersion) override {
    auto next = std::exchange(listed_, {});
    writes_.correct(next, versionNumber(resourceVersion).value_or(0), objects_);
    for (const auto& [before, after] : objects_.replaceAll(std::move(next))) notify(before, after);
  }

  void upsert(std::string_view object) override {
    if (isEcho(object)) return;
    auto decoded = decodeOrReport(object);
    if (!decoded) return;
    writes_.noteDelivered(versionOf(*decoded));
    const Key key = Traits::keyOf(*decoded);
    if (!writes_.isOutdated(key, *decoded)) put(key, newerOf(key, std::move(*decoded)));
  }

  void remove(std::string_view object) override {
    const auto meta = codec::decodeObjectMeta(object);
    if (!meta) {
      undecodable_.report(meta.error(), {}, kKeepsOld);
      return;
    }
    if (const auto version = versionNumber(meta->resourceVersion)) writes_.noteDelivered(*version);
    const Key key = Traits::keyOf(*meta);
    writes_.deletionShown(key, meta->uid);
    if constexpr (requires(const T& value) { value.resourceVersion; }) {
      // An object of the same name that was created in the meantime is another object.
      const Pointer known = find(key);
      if (known && writes_.contains(key) && known->uid.str() != meta->uid) return;
    }
    take(key);
  }

 private:
  static constexpr std::string_view kKeepsOld = "its previous state is kept";

  // The watch repeats each write. Its answer is decoded already, and the metadata is enough to detect that.
  bool isEcho(std::string_view object) {
    if constexpr (requires(const T& value) { value.resourceVersion; }) {
      if (writes_.empty()) return false;
      const auto meta = codec::decodeObjectMeta(object);
      if (!meta) return false;
      const Key key = Traits::keyOf(*meta);
      const Pointer known = find(key);
      if (!known || known->uid.str() != meta->uid || known->resourceVersion != meta->resourceVersion)
        return false;
      return writes_.confirm(key, *known);
    } else {
      return false;
    }
  }

  // Returns a stand-in for an object that cannot be decoded, if its type has one that counts.
  base::Result<T> decodeOrReport(std::string_view text) {
    auto decoded = decode_(text);
    if (decoded) return decoded;
    std::optional<T> standIn;
    if constexpr (requires { Traits::standInFor(text); }) standIn = Traits::standInFor(text);
    undecodable_.report(decoded.error(), text, standIn ? "what can be read of it counts" : kKeepsOld);
    if (standIn) return std::move(*standIn);
    return decoded;
  }

  // A listed object that cannot be decoded and has no stand-in keeps its previous state.
  void keepOld(std::string_view text) {
    const auto meta = codec::decodeObjectMeta(text);
    if (!meta) return;
    const Key key = Traits::keyOf(*meta);
    if (Pointer old = find(key)) listed_[key] = std::move(old);
  }

  // Returns the cached object if it equals the delivered one.
  static Pointer sharedWith(const Pointer& known, T delivered) {
    if (known && Traits::same(*known, delivered)) return known;
    return std::make_shared<const T>(std::move(delivered));
  }

  // Returns the delivered object, unless a write of this program is known to be newer.
  Pointer newerOf(const Key& key, T delivered) {
    const Pointer known = find(key);
    if constexpr (requires { delivered.resourceVersion; }) {
      if (known && writes_.isNewer(key, *known, delivered)) return known;
    }
    return sharedWith(known, std::move(delivered));
  }

  void put(const Key& key, const Pointer& after) {
    const Pointer before = objects_.put(key, after);
    if (before != after) notify(before, after);
  }

  void take(const Key& key) {
    const Pointer before = objects_.remove(key);
    if (!before) return;
    writes_.dropped(key);
    notify(before, nullptr);
  }

  void notify(const Pointer& before, const Pointer& after) {
    for (const Listener& listener : listeners_) listener(before, after);
  }

  Decode decode_;
  UndecodableObjects undecodable_;
  std::vector<Listener> listeners_;
  CachedObjects<T> objects_;
  OwnWrites<T> writes_;
  typename CachedObjects<T>::Map listed_;  // of the pages of the list in progress
};

}  // namespace trainyard::kube
