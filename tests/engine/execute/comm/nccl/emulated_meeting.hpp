// Where the members of an emulated communicator meet: memory that all of them map, threads of one process or processes
// of one host. What a member gives it copies there, and what it gets it copies from there: nobody touches another's
// memory. For the emulated libnccl's own files.
//
// As on one host under NCCL, a member whose process dies is not noticed: the others wait until they are aborted.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/engine/execute/comm/nccl/emulated_collective.hpp"

namespace emulated_nccl {

struct Post {
  bool is_send = false;
  int peer = 0, type = 0;
  std::size_t count = 0;
  void* data = nullptr;
};

enum class Met : std::uint8_t { done, stopped, disagreed };

class Meeting {
 public:
  /// A new place: its name, which the communicator's id carries to the members.
  static std::string make();

  /// As one of `ranks` members. Notes what does not fit to those that have come before.
  Meeting(const std::string& name, int ranks, int member);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  int ranks() const { return ranks_; }
  int member() const { return member_; }
  bool is_complete() const;
  /// Those that have not come need not come any more.
  void give_up() const;

  /// Asked every few milliseconds of a wait: it is over.
  using Stop = std::function<bool()>;
  /// This member's collective `number`, to its end.
  Met run(const Collective& call, std::uint64_t number, const Stop& stop);
  /// Messages that go on at once, to the end of all of them.
  Met run(const std::vector<Post>& posts, const Stop& stop);

 private:
  struct Shared;
  class Lock;
  std::byte* given_by(int member) const;
  std::byte* box(int from, int to) const;

  std::string name_;
  int ranks_, member_;
  Shared* shared_ = nullptr;
};

}  // namespace emulated_nccl
