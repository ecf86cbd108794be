#include "sim/api/gc.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/api/server_impl.h"

namespace trainyard::sim {
namespace {

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

struct Item {
  const ResourceType* type = nullptr;
  ObjectKey key;
  ObjectPtr object;
};

bool hasFinalizer(const Json& object, const char* name) {
  const Json& held = listAt(object, {"metadata", "finalizers"});
  return std::find(held.begin(), held.end(), Json(name)) != held.end();
}

bool isDeleting(const Json& object) { return findPath(object, {"metadata", "deletionTimestamp"}) != nullptr; }

std::string uidOf(const Json& object) { return textAt(object, {"metadata", "uid"}); }

// The conditions that the namespace controller sets when it is done.
Json emptiedConditions(base::WallTime now) {
  const auto condition = [&](const char* type, const char* reason, const char* message) {
    return Json{{"type", type},
                {"status", "False"},
                {"lastTransitionTime", base::formatTime(now)},
                {"reason", reason},
                {"message", message}};
  };
  return {condition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
                    "All resources successfully discovered"),
          condition("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
                    "All legacy kube types successfully parsed"),
          condition("NamespaceDeletionContentFailure", "ContentDeleted",
                    "All content successfully deleted, may be waiting on finalization"),
          condition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
          condition("NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished")};
}

// Returns true if a write may cause work. Most writes change a status or a lease, or create an Event.
bool concernsOwnership(const StoreEvent& event) {
  if (event.after == nullptr || event.table == "namespaces") return true;
  const Json& after = *event.after;
  if (event.before == nullptr) return !listAt(after, {"metadata", "ownerReferences"}).empty();
  const Json& before = *event.before;
  return isDeleting(before) != isDeleting(after) ||
         listAt(before, {"metadata", "ownerReferences"}) != listAt(after, {"metadata", "ownerReferences"}) ||
         listAt(before, {"metadata", "finalizers"}) != listAt(after, {"metadata", "finalizers"});
}

class Round {
 public:
  explicit Round(ApiServer::Impl& server) : server_(server) {
    std::set<std::string> tables;
    for (const auto& type : server.state.registry->all()) {
      // Two versions of one resource share a table.
      if (!tables.insert(type->table).second) continue;
      for (const auto& [key, object] : server.state.store.table(type->table)) {
        const Item item{type.get(), key, object};
        byUid_[uidOf(*object)] = item;
        items_.push_back(item);
      }
    }
    for (const auto& item : items_) {
      for (const auto& owner : listAt(*item.object, {"metadata", "ownerReferences"})) {
        dependents_[textAt(owner, {"uid"})].push_back(item);
      }
    }
  }

  bool run() {
    const auto before = server_.state.store.version();
    for (const auto& item : items_) {
      if (!listAt(*item.object, {"metadata", "ownerReferences"}).empty()) collect(item);
      if (!isDeleting(*item.object)) continue;
      if (hasFinalizer(*item.object, kOrphan)) orphan(item);
      if (hasFinalizer(*item.object, kForeground)) foreground(item);
    }
    for (const auto& [key, space] : ApiStore::Table(server_.state.store.table("namespaces"))) {
      if (isDeleting(*space)) {
        empty(key.second);
      } else {
        giveAccount(key.second);
      }
    }
    return server_.state.store.version() != before;
  }

 private:
  // An owner counts only by its uid and, if namespaced, in the namespace of the dependent.
  bool exists(const Json& owner, const std::string& space) const {
    const auto found = byUid_.find(textAt(owner, {"uid"}));
    if (found == byUid_.end()) return false;
    const Item& held = found->second;
    return held.type->name.kind == textAt(owner, {"kind"}) && held.key.second == textAt(owner, {"name"}) &&
           (held.key.first.empty() || held.key.first == space);
  }

  void collect(const Item& item) {
    if (isDeleting(*item.object)) return;
    Json kept = Json::array();
    bool waiting = false;
    for (const auto& owner : listAt(*item.object, {"metadata", "ownerReferences"})) {
      if (!exists(owner, item.key.first)) continue;
      const Item& held = byUid_.at(textAt(owner, {"uid"}));
      // An owner that waits for its dependents counts as gone.
      const bool leaving = isDeleting(*held.object) && hasFinalizer(*held.object, kForeground);
      waiting = waiting || leaving;
      if (!leaving) kept.push_back(owner);
    }
    const std::size_t had = listAt(*item.object, {"metadata", "ownerReferences"}).size();
    if (kept.empty()) {
      remove(item, waiting);
    } else if (kept.size() != had) {
      Json object = *item.object;
      object["metadata"]["ownerReferences"] = std::move(kept);
      write(item, std::move(object));
    }
  }

  void remove(const Item& item, bool foreground) {
    DeleteOptions options;
    options.uid = uidOf(*item.object);
    options.propagation = hasFinalizer(*item.object, kOrphan) ? "Orphan" : "Background";
    if (foreground && !dependents_[options.uid].empty()) options.propagation = "Foreground";
    // If the object is gone or replaced in the meantime, nothing is left to do.
    static_cast<void>(server_.remover.removeObject(*item.type, item.key, options));
  }

  void orphan(const Item& item) {
    for (const auto& dependent : dependents_[uidOf(*item.object)]) {
      const ObjectPtr now = server_.state.store.get(dependent.type->table, dependent.key);
      if (now == nullptr) continue;
      Json object = *now;
      Json kept = Json::array();
      for (const auto& owner : listAt(object, {"metadata", "ownerReferences"})) {
        if (textAt(owner, {"uid"}) != uidOf(*item.object)) kept.push_back(owner);
      }
      object["metadata"]["ownerReferences"] = kept;
      if (kept.empty()) object["metadata"].erase("ownerReferences");
      write(dependent, std::move(object));
    }
    dropFinalizer(item, kOrphan);
  }

  void foreground(const Item& item) {
    for (const auto& dependent : dependents_[uidOf(*item.object)]) {
      const ObjectPtr now = server_.state.store.get(dependent.type->table, dependent.key);
      if (now == nullptr) continue;
      for (const auto& owner : listAt(*now, {"metadata", "ownerReferences"})) {
        if (textAt(owner, {"uid"}) == uidOf(*item.object) && boolAt(owner, {"blockOwnerDeletion"})) return;
      }
    }
    dropFinalizer(item, kForeground);
  }

  void dropFinalizer(const Item& item, const char* name) {
    const ObjectPtr now = server_.state.store.get(item.type->table, item.key);
    if (now == nullptr) return;
    Json object = *now;
    Json kept = Json::array();
    for (const auto& finalizer : listAt(object, {"metadata", "finalizers"})) {
      if (finalizer != name) kept.push_back(finalizer);
    }
    object["metadata"]["finalizers"] = kept;
    if (kept.empty()) object["metadata"].erase("finalizers");
    write(item, std::move(object));
  }

  void write(const Item& item, Json object) {
    const bool held = !listAt(object, {"metadata", "finalizers"}).empty();
    const bool waits = intAt(object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) > 0;
    if (isDeleting(object) && !held && !waits) {
      server_.state.store.erase(item.type->table, item.key);
      return;
    }
    if (object != *item.object) server_.state.store.put(item.type->table, item.key, std::move(object));
  }

  void empty(const std::string& space) {
    bool left = false;
    for (const auto& item : items_) {
      if (item.key.first != space) continue;
      DeleteOptions options;
      options.propagation = "Background";
      const auto removed = server_.remover.removeObject(*item.type, item.key, options);
      left = left || (removed && !removed->first);
    }
    if (left) return;
    const ObjectPtr now = server_.state.store.get("namespaces", {"", space});
    if (now == nullptr) return;
    if (listAt(*now, {"metadata", "finalizers"}).empty()) {
      server_.state.store.erase("namespaces", {"", space});
      return;
    }
    if (listAt(*now, {"spec", "finalizers"}).empty()) return;
    Json object = *now;
    object["spec"].erase("finalizers");
    object["status"]["conditions"] = emptiedConditions(server_.state.clock());
    server_.state.store.put("namespaces", {"", space}, std::move(object));
  }

  void giveAccount(const std::string& space) {
    if (server_.state.store.get("serviceaccounts", {space, "default"}) != nullptr) return;
    Json account = {{"metadata",
                     {{"name", "default"},
                      {"namespace", space},
                      {"uid", server_.state.newUid()},
                      {"creationTimestamp", base::formatTime(server_.state.clock())}}}};
    server_.state.store.put("serviceaccounts", {space, "default"}, std::move(account));
  }

  ApiServer::Impl& server_;
  std::vector<Item> items_;
  std::map<std::string, Item> byUid_;
  std::map<std::string, std::vector<Item>> dependents_;
};

}  // namespace

GarbageCollector::GarbageCollector(ApiServer& server, base::Executor& executor,
                                   std::chrono::milliseconds delay)
    : server_(server), executor_(executor), delay_(delay) {
  server_.setChangeListener([this](const StoreEvent& event) {
    if (timer_.value == 0 && concernsOwnership(event)) schedule();
  });
  schedule();
}

GarbageCollector::~GarbageCollector() {
  server_.setChangeListener(nullptr);
  if (timer_.value != 0) executor_.cancel(timer_);
}

void GarbageCollector::schedule() {
  timer_ = executor_.postAfter(delay_, [this] { run(); });
}

void GarbageCollector::run() {
  // While timer_ is set, own writes do not schedule another round; the result does.
  const bool changed = step(server_);
  timer_ = {};
  if (changed) schedule();
}

bool GarbageCollector::step(ApiServer& server) { return Round(server.impl()).run(); }

}  // namespace trainyard::sim
