#pragma once

#include "model/shared_list.h"

namespace trainyard::core {

// Calls changed(before, after) for every object that one of two versions of a list has and the other has not,
// or has another version of; nullptr: was not there, is gone. Both are sorted by key. Costs a comparison of
// pointers for each object that did not change.
template <typename T, typename Changed>
void forEachChange(const model::SharedList<T>& before, const model::SharedList<T>& after, Changed changed) {
  if (before.isSameAs(after)) return;
  static const typename model::SharedList<T>::Pointer kNone;
  auto old = before.begin();
  for (const auto& each : after) {
    // Equal pointers are most of them, and need no look at the objects.
    if (old != before.end() && *old == each) {
      ++old;
      continue;
    }
    for (; old != before.end() && (*old)->key < each->key; ++old) changed(*old, kNone);
    const bool known = old != before.end() && (*old)->key == each->key;
    if (!known) {
      changed(kNone, each);
      continue;
    }
    if (*old != each) changed(*old, each);
    ++old;
  }
  for (; old != before.end(); ++old) changed(*old, kNone);
}

}  // namespace trainyard::core
