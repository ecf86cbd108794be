#include "operator/console/tenant_queue.h"

#include <string>

#include <catch2/catch.hpp>

#include "operator/console/viewer.h"

namespace trainyard::operator_::console::test {
namespace {

TEST_CASE("One request of each tenant runs at a time and its others follow in order") {
  TenantQueue turns;
  std::string begun;
  for (const char each : {'a', 'b', 'c'}) CHECK(turns.take("ml", [&begun, each] { begun += each; }));
  CHECK(turns.take("vision", [&] { begun += 'v'; }));
  CHECK(begun == "av");
  turns.leave("ml");
  turns.leave("vision");
  CHECK(begun == "avb");
  turns.leave("ml");
  turns.leave("ml");
  CHECK(begun == "avbc");
  CHECK(turns.take("ml", [&] { begun += 'd'; }));
  CHECK(begun == "avbcd");
}

TEST_CASE("A limited number of a tenant's requests wait") {
  TenantQueue turns(2);
  int begun = 0;
  const auto take = [&](const char* tenant) { return turns.take(tenant, [&] { ++begun; }); };
  CHECK((take("ml") && take("ml") && take("ml")));
  CHECK(!take("ml"));
  CHECK(take("vision"));
  turns.leave("ml");
  CHECK(take("ml"));
  CHECK(begun == 3);
}

TEST_CASE("ServiceAccounts count with those of their namespace and other users by themselves") {
  CHECK(tenantOf("system:serviceaccount:ml:one") == tenantOf("system:serviceaccount:ml:two"));
  CHECK(tenantOf("system:serviceaccount:ml:one") != tenantOf("system:serviceaccount:mlx:one"));
  CHECK(tenantOf("ann@example.com") == "ann@example.com");
  CHECK(tenantOf("system:serviceaccount:") == "system:serviceaccounts:");
}

}  // namespace
}  // namespace trainyard::operator_::console::test
