#include "engine/predict/network/laid_out.hpp"

#include <random>
#include <set>

#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/collective_costs.hpp"
#include "engine/predict/network/library_lists.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"

using namespace rankscope;

namespace {

/// Two or more nodes of eight devices with `rails` ports, 100 GB/s per device and 10 per port, no latencies.
ClusterSpec nodes_of_eight(int rails = 8) {
  ClusterSpec c;
  c.spec = "eight";
  c.devices_per_node = 8;
  c.intra_bandwidth = 100e9;
  c.inter_bandwidth = 10e9;
  c.rails = rails;
  return c;
}

std::vector<int> some_ranks(int n, int stride = 1, int first = 0) {
  std::vector<int> members;
  for (int i = 0; i < n; ++i) members.push_back(first + i * stride);
  return members;
}

double named(const ClusterSpec& c, const RankGrid& grid, const std::string& algorithm, OpKind kind,
             const std::vector<int>& members, std::int64_t bytes) {
  return 1e-9 * static_cast<double>(collective_costs(c, grid, algorithm, {})(kind, members, bytes));
}

ClusterSpec random_cluster(std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<double> of) {
    return of.begin()[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(random)];
  };
  ClusterSpec c = nodes_of_eight();
  c.devices_per_node = static_cast<int>(one_of({4, 8, 16}));
  c.rails = std::max(1, c.devices_per_node / static_cast<int>(one_of({1, 1, 2, 4})));
  c.intra_bandwidth = one_of({50e9, 150e9, 300e9});
  c.inter_bandwidth = one_of({12.5e9, 25e9, 100e9});
  c.intra_latency_s = one_of({1e-6, 3.4e-6});
  c.inter_latency_s = one_of({5e-6, 9.6e-6});
  c.collective_latency_s = one_of({0, 35e-6});
  c.ring_fill = one_of({0, 0.38});
  if (one_of({0, 1}) > 0) {
    c.devices_per_card = 2;
    c.card_bandwidth = one_of({1, 4}) * c.intra_bandwidth;
    c.card_latency_s = one_of({1e-6, 3.4e-6});
  } else if (one_of({0, 1}) > 0) {
    c.ring_ports = 1;
  }
  if (one_of({0, 0, 1}) > 0) {
    c.nodes_per_switch = 2;
    c.oversubscription = one_of({1, 2, 8});
  }
  if (one_of({0, 0, 1}) > 0) {
    c.slow_node = 1;
    c.slow_node_factor = 3;
  }
  if (one_of({0, 1}) > 0) {
    c.quick_share = 0.9;
    c.quick_intra_latency_s = c.intra_latency_s / 2;
    c.quick_inter_latency_s = c.inter_latency_s / 2;
  }
  return c;
}

}  // namespace

TEST_CASE("a path leaves all units that contain only one of two devices, by the port next to the device") {
  ClusterSpec c = nodes_of_eight(4);
  c.nodes_per_switch = 2;
  c.oversubscription = 4;
  const Wires wires(c, 32);
  const HopLatencies hops{1, 2, 3};
  CHECK(wires.way(0, 1, hops).count == 2);  // from one device to the other
  CHECK(wires.way(0, 1, hops).latency == 2);
  CHECK(wires.way(0, 8, hops).count == 4);   // also through the nodes' ports
  CHECK(wires.way(0, 16, hops).count == 6);  // also through the leaves' uplinks
  CHECK(wires.way(0, 16, hops).latency == 3);
  const auto port_out = [&](int device) { return wires.way(device, device ^ 8, hops).links[2]; };
  CHECK(port_out(0) == port_out(1));  // two devices share a port
  CHECK(port_out(1) != port_out(2));
  CHECK(wires.rate(port_out(0)) == 10e9);
  CHECK(wires.rate(wires.way(0, 16, hops).links[4]) == 2 * 4 * 10e9 / 4);
}

TEST_CASE("a link is shared by the transfers of a phase, of one group and of concurrent ones") {
  const ClusterSpec c = nodes_of_eight(4);
  const Wires wires(c, 16);
  // A gigabyte from node 0 to node 1: alone, with another one over another port, and with one more over the same port.
  const std::vector<Transfer> one{{0, 0, 0, 1, 0, 0, 1'000'000'000, false}};
  const std::vector<int> from_0{0, 8}, from_1{1, 9}, from_2{2, 10};
  const PlacedList lists[] = {{one, from_0}, {one, from_2}, {one, from_1}};
  CHECK(laid_out_seconds(wires, {}, std::span(lists, 1), 1) == Approx(0.1));
  CHECK(laid_out_seconds(wires, {}, std::span(lists, 2), 1) == Approx(0.1));
  CHECK(laid_out_seconds(wires, {}, std::span(lists, 3), 1) == Approx(0.2));
}

TEST_CASE("a member begins a phase when its own transfers are done, without waiting for the group") {
  const Wires wires(nodes_of_eight(), 16);
  const HopLatencies hops{0, 1, 10};
  // 0 → 1 over the network, then 1 → 2; at the same time 3 → 4 and 4 → 5 within a node, which do not wait for the
  // others.
  const std::vector<int> group{0, 8, 9, 1, 2, 3};
  const std::vector<Transfer> near{{0, 0, 3, 4, 0, 0, 1, false}, {1, 0, 4, 5, 0, 0, 1, false}};
  std::vector<Transfer> both{{0, 0, 0, 1, 0, 0, 1, false}, near[0], {1, 0, 1, 2, 0, 0, 1, false}, near[1]};
  const PlacedList near_only{near, group}, all{both, group};
  CHECK(laid_out_seconds(wires, hops, std::span(&near_only, 1), 1) == Approx(2));
  CHECK(laid_out_seconds(wires, hops, std::span(&all, 1), 1) == Approx(11));
}

TEST_CASE("one ring over two nodes uses one port of each, the library's eight rings use all") {
  const ClusterSpec c = nodes_of_eight();
  const RankGrid grid{1, 16, 1};
  const double once = 30.0 / 16 * 1e9;
  ClusterSpec own = c;
  own.software.collectives = Collectives::engine;
  for (const char* list : {"ring", "auto"})
    CHECK(named(own, grid, list, OpKind::all_reduce, some_ranks(16), 1'000'000'000) == Approx(once / 10e9));
  CHECK(named(c, grid, "ring", OpKind::all_reduce, some_ranks(16), 1'000'000'000) == Approx(once / 80e9));
  CHECK(named(c, grid, "tree", OpKind::all_reduce, some_ranks(16), 1'000'000'000) == Approx(2e9 / 100e9));
  // Between two nodes a double tree is even faster: each sends half of the tensor up and half of it down.
  CHECK(named(c, grid, "auto", OpKind::all_reduce, some_ranks(16), 1'000'000'000) == Approx(2e9 / 100e9));
}

TEST_CASE("halving and doubling crosses the network with half of the tensor from every member at once") {
  // 16 members on two nodes with four ports: the first phase sends S/2 from each of eight over 4 × 10 GB/s, and the
  // last one sends it back; the phases within the nodes send S/4, S/8 and S/16 over 100 GB/s.
  const ClusterSpec c = nodes_of_eight(4);
  const RankGrid grid{1, 16, 1};
  const double over = 8 * 0.5e9 / 40e9, within = (1.0 / 4 + 1.0 / 8 + 1.0 / 16) * 1e9 / 100e9;
  CHECK(named(c, grid, "halving-doubling", OpKind::all_reduce, some_ranks(16), 1'000'000'000) ==
        Approx(2 * (over + within)));
}

TEST_CASE("concurrent groups share a node's ports in a named algorithm, too") {
  // Data groups with one rank per node: as many as there are tensor ranks. Two groups on a port wait for each other;
  // with eight ports none waits.
  for (const auto& [rails, slower] : {std::pair{8, 1.0}, std::pair{4, 2.0}, std::pair{1, 8.0}}) {
    const ClusterSpec c = nodes_of_eight(rails);
    const RankGrid grid{8, 4, 1};
    for (const char* algorithm : {"ring", "tree", "halving-doubling", "naive"}) {
      INFO(algorithm << ", " << rails << " ports");
      const double eight = named(nodes_of_eight(8), grid, algorithm, OpKind::all_reduce, some_ranks(4, 8), 1'000'000);
      CHECK(named(c, grid, algorithm, OpKind::all_reduce, some_ranks(4, 8), 1'000'000) == Approx(slower * eight));
    }
  }
}

TEST_CASE("the groups concurrent with a group are those of its kind that have a rank in one of its units") {
  for (const RankGrid& grid : {RankGrid{2, 12, 3}, RankGrid{1, 20, 4}, RankGrid{8, 4, 2}, RankGrid{3, 5, 4}})
    for (const int nodes_per_switch : {0, 2}) {
      ClusterSpec c = nodes_of_eight();
      c.nodes_per_switch = nodes_per_switch;
      const Wires wires(c, grid.size());
      const int widest = wires.devices_of_widest();
      for (const GroupKind kind : {GroupKind::tensor, GroupKind::data, GroupKind::pipeline, GroupKind::model})
        for (const auto& own : grid.groups(kind)) {
          std::set<std::vector<int>> expected;
          for (const auto& other : grid.groups(kind))
            for (const int a : own)
              for (const int b : other)
                if (a / widest == b / widest) expected.insert(other);
          const auto found = concurrent_groups(grid, own, wires);
          CHECK(found.front() == own);
          CHECK(found.size() == expected.size());
          CHECK(std::set<std::vector<int>>(found.begin(), found.end()) == expected);
        }
    }
}

TEST_CASE("two in-order trees share no inner node, and each reaches all") {
  for (const int n : {1, 2, 3, 4, 7, 8, 12, 48}) {
    INFO(n << " nodes");
    std::vector<int> inner(static_cast<std::size_t>(n), 0);
    for (const bool mirrored : {false, true}) {
      const auto parents = in_order_tree(n, mirrored);
      std::vector<int> children(static_cast<std::size_t>(n), 0);
      int roots = 0;
      for (int i = 0; i < n; ++i) {
        int at = i, steps = 0;
        while (parents[static_cast<std::size_t>(at)] >= 0 && steps <= n) {
          at = parents[static_cast<std::size_t>(at)];
          ++steps;
        }
        CHECK(steps <= static_cast<int>(std::bit_width(static_cast<unsigned>(n))));
        if (parents[static_cast<std::size_t>(i)] < 0)
          ++roots;
        else
          ++children[static_cast<std::size_t>(parents[static_cast<std::size_t>(i)])];
      }
      CHECK(roots == 1);
      for (int i = 0; i < n; ++i) {
        CHECK(children[static_cast<std::size_t>(i)] <= 2);
        if (children[static_cast<std::size_t>(i)] == 2) ++inner[static_cast<std::size_t>(i)];
      }
    }
    CHECK(*std::max_element(inner.begin(), inner.end()) <= 1);
  }
}

TEST_CASE("the closed form of a ring is its list laid out: on random clusters, grids and sizes") {
  std::mt19937 random(7);
  test::LargestError worst;
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ClusterSpec c = random_cluster(random);
    const auto power = [&](int most) { return 1 << std::uniform_int_distribution<int>(0, most)(random); };
    const RankGrid grid{power(3), power(4), power(2)};
    for (const GroupKind kind : {GroupKind::tensor, GroupKind::data}) {
      const auto members = grid.group_of(0, kind);
      if (members.size() < 2) continue;
      const double bytes = std::ldexp(1e3, std::uniform_int_distribution<int>(0, 20)(random));
      for (const OpKind op : {OpKind::all_reduce, OpKind::all_gather}) {
        const double closed = collective_seconds(c, Route::ring, op, members, bytes);
        const double listed = listed_seconds(c, grid, Route::ring, op, members, bytes);
        worst.add(test::relative_error(closed, listed));
        INFO("tensor " << grid.tensor << ", data " << grid.data << ", pipeline " << grid.pipeline << " on nodes of "
                       << c.devices_per_node << " with " << c.rails << " ports (" << c.ring_ports << " for a ring), "
                       << c.devices_per_card << " a card, leaves " << c.nodes_per_switch << " : " << c.oversubscription
                       << ", slow " << c.slow_node << ", " << name_of(kind) << " " << members.size() << ", " << bytes
                       << " bytes: " << closed << " against " << listed);
        CHECK(closed == Approx(listed).epsilon(1e-9));
        ++compared;
      }
    }
  }
  CHECK(compared > 600);
  CHECK(worst.value() < 1e-9);
}

TEST_CASE("the closed forms of a double tree and of a hierarchy are their lists laid out") {
  for (const int rails : {8, 4})
    for (const int nodes : {2, 4, 8, 16})
      for (const int tensor : {1, 8}) {
        ClusterSpec c = nodes_of_eight(rails);
        c.intra_latency_s = 3.4e-6;
        c.inter_latency_s = 9.6e-6;
        const RankGrid grid{tensor, 8 * nodes / tensor, 1};
        const auto members = grid.group_of(0, GroupKind::data);
        for (const double bytes : {1e3, 1e9}) {
          INFO(nodes << " nodes, " << rails << " ports, tensor " << tensor << ", " << bytes << " bytes");
          const auto closed = [&](Route route) {
            return collective_seconds(c, route, OpKind::all_reduce, members, bytes);
          };
          const auto listed = [&](Route route) {
            return listed_seconds(c, grid, route, OpKind::all_reduce, members, bytes);
          };
          CHECK(closed(Route::tree) == Approx(listed(Route::tree)).epsilon(0.15));
          if (tensor == 1) CHECK(closed(Route::hierarchical) == Approx(listed(Route::hierarchical)).epsilon(0.02));
        }
      }
}
