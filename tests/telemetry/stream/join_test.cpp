#include "telemetry/stream/join.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using rankscope::test::Directory;

namespace {

Join secured(const std::string& endpoint) { return {endpoint, new_curve_keys().public_key, new_curve_keys()}; }

std::string refusal(const std::string& endpoint, bool keys = false) {
  try {
    check_publishable(endpoint, keys);
  } catch (const JoinError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a join string has endpoint and keys, whatever characters the keys have") {
  for (int i = 0; i < 50; ++i)
    for (const char* endpoint : {"tcp://cluster.example:7070", "tcp://[fe80::1]:7070", "ipc:///tmp/a b/relay"}) {
      const Join join = secured(endpoint);
      INFO(endpoint);
      REQUIRE(parse_join(to_string(join) + "\n") == join);
      const Join open{endpoint, {}, {}};
      REQUIRE(parse_join(to_string(open)) == open);
      REQUIRE(parse_join(endpoint) == open);
    }
}

TEST_CASE("a socket that is bound to every address is reached by this machine's name, or the one that is given") {
  // ZeroMQ reports tcp://0.0.0.0:5555 in this form if IPv6 is enabled.
  CHECK(reachable_endpoint("tcp://[::ffff:0.0.0.0]:5555", "10.9.0.1") == "tcp://10.9.0.1:5555");
  CHECK(reachable_endpoint("tcp://0.0.0.0:5555", "lab") == "tcp://lab:5555");
  CHECK(reachable_endpoint("tcp://[::]:5555", "lab") == "tcp://lab:5555");
  const std::string by_name = reachable_endpoint("tcp://[::ffff:0.0.0.0]:5555");
  CHECK(by_name.find('[') == std::string::npos);
  CHECK(by_name.find("0.0.0.0") == std::string::npos);
  // A socket that is bound to one address is reached at that address.
  CHECK(reachable_endpoint("tcp://[::ffff:10.9.0.1]:80", "lab") == "tcp://10.9.0.1:80");
  CHECK(reachable_endpoint("tcp://[fe80::1]:80", "lab") == "tcp://[fe80::1]:80");
  CHECK(reachable_endpoint("ipc:///tmp/a:b", "lab") == "ipc:///tmp/a:b");
}

TEST_CASE("a join string that was cut or mistyped is refused with the reason") {
  const std::string good = to_string(secured("tcp://host:7070"));
  for (const std::string& bad :
       {std::string(), std::string("host"), std::string("rankscope://tcp"), std::string("rankscope://tcp/host"),
        std::string("udp://host:1"), std::string("tcp://"), good.substr(0, good.size() - 1), good + "x",
        good.substr(0, good.size() - 1) + "~", "ipc:///" + std::string(120, 'x')}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_join(bad), JoinError);
  }
}

TEST_CASE("a join file is readable by its owner alone, and refused when it is not") {
  const Directory directory;
  const std::string path = directory.file("join");
  const Join join = secured("tcp://host:7070");
  write_join_file(path, join);
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(read_join_file(path) == join);
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  CHECK_THROWS_AS(read_join_file(path), JoinError);
  // Without a secret there is nothing to protect.
  write_join_file(path, {"tcp://host:1", {}, {}});
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(read_join_file(path).endpoint == "tcp://host:1");
  CHECK_THROWS_AS(read_join_file(directory.file("absent")), JoinError);
}

TEST_CASE("publishing beyond this machine needs keys") {
  for (const char* endpoint : {"tcp://*:7070", "tcp://0.0.0.0:7070", "tcp://eth0:7070", "tcp://192.168.1.4:7070",
                               "tcp://[::]:7070", "tcp://[::ffff:10.0.0.1]:7070", "tcp://host.example:7070",
                               "tcp://127.evil.example:7070", "tcp://128.0.0.1:7070"}) {
    INFO(endpoint);
    CHECK(refusal(endpoint).find("other machines") != std::string::npos);
    CHECK(refusal(endpoint, true).empty());
    CHECK_FALSE(is_this_machine(endpoint));
  }
  for (const char* endpoint : {"tcp://127.0.0.1:7070", "tcp://127.3.2.1:*", "tcp://localhost:1", "tcp://[::1]:7070",
                               "tcp://[::ffff:127.0.0.1]:7070"}) {
    INFO(endpoint);
    CHECK(refusal(endpoint).empty());
    CHECK(is_this_machine(endpoint));
  }
  for (const char* endpoint : {"udp://127.0.0.1:1", "pgm://a:1", "nonsense", "", "ipc://@abstract"}) {
    INFO(endpoint);
    CHECK_FALSE(refusal(endpoint).empty());
  }
}

TEST_CASE("a local socket lives in a directory that others cannot enter") {
  const Directory directory;
  struct stat info {};
  REQUIRE(stat(directory.path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(refusal("ipc://" + directory.file("relay")).empty());
  REQUIRE(chmod(directory.path.c_str(), 0755) == 0);
  CHECK(refusal("ipc://" + directory.file("relay")).find("0700") != std::string::npos);
}
