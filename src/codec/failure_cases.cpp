#include "codec/failure_cases.h"

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "codec/field.h"
#include "codec/member_evidence.h"

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxMembers = 10'000;

void expectKeys(const Field& field, std::initializer_list<std::string_view> known) {
  field.forEachMember([&](std::string_view name, const Field& member) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      member.complain(fmt::format("is not a known key; known are {}", fmt::join(known, ", ")));
  });
}

model::MemberEvidence readMember(const Field& field) {
  expectKeys(field, {"role", "index", "node", "status", "log"});
  model::MemberEvidence member;
  member.role = field["role"].required();
  member.index = field["index"].smallInteger(0, 0);
  member.node = field["node"].string();
  if (!field["status"].present()) field["status"].complain("is required");
  readPodEnd(field["status"], member);
  member.log = field["log"].string();
  return member;
}

ExpectedFailure readExpected(const Field& field) {
  expectKeys(field, {"class", "rootMember"});
  ExpectedFailure expected;
  if (const auto failure = model::parseFailureClass(field["class"].required())) {
    expected.failure = *failure;
  } else {
    field["class"].refuse("must be a class of failures");
  }
  expected.rootMember = field["rootMember"].string();
  return expected;
}

FailureCase readCase(const Field& field) {
  if (!field.present()) field.complain("expected a case, an object");
  expectKeys(field, {"name", "source", "framework", "members", "expect"});
  FailureCase failure;
  failure.name = field["name"].string();
  const Field members = field["members"];
  members.forEachElement([&](const Field& member) {
    if (failure.members.size() == kMaxMembers)
      return member.complain(fmt::format("is one member too many: {} at most", kMaxMembers));
    failure.members.push_back(readMember(member));
  });
  if (failure.members.empty()) members.complain("needs at least one member");
  if (const Field expect = field["expect"]; expect.present()) failure.expect = readExpected(expect);
  return failure;
}

}  // namespace

base::Result<std::vector<FailureCase>> decodeFailureCases(std::string_view json, const std::string& file) {
  const auto refuse = [&](std::string_view what) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: {}", file, what));
  };
  const auto document = JsonDocument::parse(json);
  if (!document) return refuse(document.error().message);
  FieldErrors errors;
  const Field root(document->root(), errors);
  std::vector<FailureCase> cases;
  if (document->root().type() == JsonType::kArray) {
    root.forEachElement([&](const Field& each) { cases.push_back(readCase(each)); });
  } else {
    cases.push_back(readCase(root));
  }
  if (errors.any()) return refuse(errors.first());
  if (cases.empty()) return refuse("holds no case");
  return cases;
}

}  // namespace trainyard::codec
