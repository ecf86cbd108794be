#include "codec/admitted_pod.h"

#include <fmt/format.h>

#include "codec/decode_object.h"
#include "codec/pod_apartness.h"
#include "codec/pod_shape.h"
#include "codec/pod_template.h"

namespace trainyard::codec {

base::Result<model::PodShape> decodeAdmittedPod(std::string_view pod, std::string_view ns) {
  return decodeObject("pod", pod, [&](const Field& root) {
    model::PodShape shape;
    if (const Field own = root["metadata"]["namespace"]; own.text() != ns)
      own.refuse(fmt::format("must be {}, its job's", ns));
    const Field spec = root["spec"];
    checkPodConstraints(spec);
    if (root.anyComplaint()) return shape;
    CountedNames names;
    shape = readPodShape(spec, {}, names);
    addApartness(spec, ns, names, shape.requests);
    return shape;
  });
}

}  // namespace trainyard::codec
