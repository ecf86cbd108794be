#pragma once

#include <string>

#include "model/ids.h"
#include "model/owner.h"

namespace trainyard::model {

// An object of another controller that asks for a queue, and the Gang that it needs. Projection of a JobSet,
// an MPIJob and so on.
struct Workload {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Owner owner;                // as its Gang shows it
  Uid controllerUid = {};     // of an object that makes this one; empty: users made it
  bool hasQueue = false;      // it has the label that names a queue
  bool leftToOthers = false;  // its field managedBy names a controller of another cluster
  std::string gangName = {};
  // The Gang to create, as JSON. Empty if its pods are no gang: each is placed by itself.
  std::string gang = {};
  // The JSON patch that marks the templates, so that their pods arrive gated; empty if they are marked.
  std::string marks = {};
  // Its spec does not list its pods: gang and marks are read from another object, too
  // (decodeWorkloadOfJobSet()).
  bool listedByJobSet = false;
  std::string warning = {};  // what its user should know before it starts; empty: nothing
  std::string error = {};    // why no Gang can be made of it, with the field; empty otherwise
};

}  // namespace trainyard::model
