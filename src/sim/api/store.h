#pragma once

// Internal to src/sim: objects, their versions and the recent history.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/api/json.h"

namespace trainyard::sim {

using ObjectPtr = std::shared_ptr<const Json>;
using ObjectKey = std::pair<std::string, std::string>;  // namespace (empty when cluster-scoped), name

// One committed write. `before` is null for a creation, `after` for a deletion.
struct StoreEvent {
  std::uint64_t version = 0;
  std::string table;
  ObjectKey key;
  ObjectPtr before;
  ObjectPtr after;
  // What watchers of a deletion get: the last state with the version of the deletion.
  ObjectPtr last;
};

// All tables with one version counter, as in etcd. Objects carry metadata.resourceVersion.
class ApiStore {
 public:
  using Table = std::map<ObjectKey, ObjectPtr>;
  using Listener = std::function<void(const StoreEvent&)>;

  // The history keeps `historyLimit` writes.
  explicit ApiStore(std::size_t historyLimit) : historyLimit_(historyLimit) {}

  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The oldest version that a watch may start from.
  [[nodiscard]] std::uint64_t oldestVersion() const { return forgotten_; }
  [[nodiscard]] ObjectPtr get(const std::string& table, const ObjectKey& key) const;
  [[nodiscard]] const Table& table(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Table>& tables() const { return tables_; }
  // Returns the table as it was at `version`; nullopt if that is no longer in the history.
  [[nodiscard]] std::optional<Table> tableAt(const std::string& name, std::uint64_t version) const;
  [[nodiscard]] const std::deque<StoreEvent>& history() const { return history_; }

  // Stores the object with the next version, calls the listener, and returns the stored object.
  ObjectPtr put(const std::string& table, const ObjectKey& key, Json object);
  // Returns the last state, with the version of the deletion.
  ObjectPtr erase(const std::string& table, const ObjectKey& key);

  // Drops the history, as compaction does.
  void forget();
  void setListener(Listener listener) { listener_ = std::move(listener); }

 private:
  void commit(StoreEvent event);

  std::size_t historyLimit_;
  std::uint64_t version_ = 1;
  std::uint64_t forgotten_ = 1;
  std::map<std::string, Table> tables_;
  std::deque<StoreEvent> history_;
  Listener listener_;
};

}  // namespace trainyard::sim
