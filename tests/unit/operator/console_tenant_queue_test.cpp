#include "operator/console/tenant_queue.h"

#include <string>

#include <catch2/catch.hpp>

#include "operator/console/viewer.h"

namespace trainyard::operator_::console::test {
namespace {

TEST_CASE("One of each tenant has the turn, the others follow as they came") {
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

TEST_CASE("So many of a tenant wait, and no more") {
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

TEST_CASE("ServiceAccounts are counted with those of their namespace, others by themselves") {
  CHECK(tenantOf("system:serviceaccount:ml:one") == tenantOf("system:serviceaccount:ml:two"));
  CHECK(tenantOf("system:serviceaccount:ml:one") != tenantOf("system:serviceaccount:mlx:one"));
  CHECK(tenantOf("ann@example.com") == "ann@example.com");
  CHECK(tenantOf("system:serviceaccount:") == "system:serviceaccounts:");
}

}  // namespace
}  // namespace trainyard::operator_::console::test
