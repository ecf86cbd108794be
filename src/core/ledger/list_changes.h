#pragma once

#include "model/shared_list.h"

namespace trainyard::core {

// Calls changed(before, after) for every object that differs between two versions of a list; nullptr stands
// for an object that is new or removed. Both lists are sorted by key. An unchanged object costs one
// comparison of pointers.
template <typename T, typename Changed>
void forEachChange(const model::SharedList<T>& before, const model::SharedList<T>& after, Changed changed) {
  if (before.isSameAs(after)) return;
  static const typename model::SharedList<T>::Pointer kNone;
  auto old = before.begin();
  for (const auto& each : after) {
    // Fast path: most pointers are equal and need no look at the objects.
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
