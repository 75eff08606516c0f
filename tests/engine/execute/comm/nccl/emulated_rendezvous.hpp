// The rendezvous of an emulated communicator's members: memory that all of them map, threads of one process or
// processes of one host. A member copies its data into it, and copies its result out of it: nobody touches another's
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

enum class Outcome : std::uint8_t { done, stopped, disagreed };

class Rendezvous {
 public:
  /// Makes a new one and returns its name, which the communicator's id carries to the members.
  static std::string make();

  /// As one of `ranks` members. Notes what does not fit to earlier members.
  Rendezvous(const std::string& name, int ranks, int member);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int ranks() const { return ranks_; }
  int member() const { return member_; }
  bool is_complete() const;
  /// No other member can open it any more.
  void remove_name() const;

  /// Called every few milliseconds of a wait; true ends it.
  using Stop = std::function<bool()>;
  /// This member's collective `number`, to its end.
  Outcome run(const Collective& call, std::uint64_t number, const Stop& stop);
  /// Messages at the same time, to the end of all of them.
  Outcome run(const std::vector<Post>& posts, const Stop& stop);

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
