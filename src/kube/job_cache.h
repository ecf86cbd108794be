#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "codec/gang_object.h"
#include "kube/object_cache.h"
#include "model/gang_name.h"
#include "model/job.h"

namespace trainyard::kube {

template <>
struct CacheTraits<model::Job> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "TrainingJob";
  static const Key& keyOf(const model::Job& job) { return job.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::Job& before, const model::Job& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

template <>
struct CacheTraits<model::Gang> : CacheTraits<model::Job> {
  static constexpr std::string_view kKind = "Gang";
  static bool same(const model::Gang& before, const model::Gang& after) {
    return CacheTraits<model::Job>::same(before, after);
  }
};

// The newest known TrainingJobs and Gangs, as one list: each kind has its own watch, and names decide which
// cache a key belongs to.
class JobCache {
 public:
  using Pointer = std::shared_ptr<const model::Job>;
  using Listener = std::function<void(const Pointer& before, const Pointer& after)>;

  JobCache(ObjectCache<model::Job>::Decode job, ObjectCache<model::Gang>::Decode gang,
           const base::Logger& log)
      : trainingJobs(std::move(job), log), gangs(std::move(gang), log) {}

  ObjectCache<model::Job> trainingJobs;
  ObjectCache<model::Gang> gangs;

  // As of ObjectCache, over both kinds.
  void onChange(const Listener& listener) {
    trainingJobs.onChange(listener);
    gangs.onChange([listener](const auto& before, const auto& after) { listener(before, after); });
  }
  [[nodiscard]] Pointer find(const model::ObjectKey& key) const {
    if (model::isGangName(key.name)) return withOwner(gangs.find(key));
    return trainingJobs.find(key);
  }
  [[nodiscard]] std::size_t size() const { return trainingJobs.size() + gangs.size(); }
  // Sorted by key. A returned list never changes.
  [[nodiscard]] model::SharedList<model::Job> all() const;

  bool applyWrite(std::string_view object, WriteKind kind = WriteKind::kUpdate);
  bool forget(const model::ObjectKey& key, std::string_view uid) {
    return model::isGangName(key.name) ? gangs.forget(key, uid) : trainingJobs.forget(key, uid);
  }
  bool forgetForGood(const model::ObjectKey& key, std::string_view uid) {
    return model::isGangName(key.name) ? gangs.forgetForGood(key, uid) : trainingJobs.forgetForGood(key, uid);
  }
  // Takes the answer to a deletion: the object, which finalizers keep, or a Status if it is gone.
  void applyDeletion(const model::ObjectKey& key, std::string_view uid, std::string_view answer);
  void upsert(std::string_view object);

  // What is known of the owners of Gangs, by uid. all() and find() show it in the Gangs.
  void setOwner(const model::Uid& uid, const model::Owner& owner);
  void forgetOwner(const model::Uid& uid);
  [[nodiscard]] bool knowsOwner(const model::Uid& uid) const { return owners_.contains(uid); }

 private:
  using OwnerPtr = std::shared_ptr<const model::Owner>;
  // The last result of all(), and what it was made from.
  struct Merged {
    model::SharedList<model::Job> jobs;
    model::SharedList<model::Gang> gangs;
    std::uint64_t owners = 0;
    model::SharedList<model::Job> all;
  };
  // A Gang with what is known of its owner: the same object as long as neither changes.
  struct Shown {
    Pointer gang;
    OwnerPtr owner;
    Pointer shown;
  };

  [[nodiscard]] Pointer withOwner(const Pointer& gang) const;

  std::map<model::Uid, OwnerPtr> owners_;
  std::uint64_t ownersVersion_ = 0;
  mutable std::map<model::ObjectKey, Shown> shown_;
  mutable Merged merged_;
};

}  // namespace trainyard::kube
