// The text form of a rank's program, one line per item, fields separated by blanks:
//
//   rankscope-program 1
//   rank 2
//   arena 1048576
//   scratch 65536                                                     outside the arena; omitted if unknown
//   context 536870912                                                 of a GPU's driver and libraries; the same
//   arrivals 1                                                        of an asynchronous server: steps ahead
//   buffer 17 activations fp32 64x128 4096 micro 3 c2:m3:b5.qkv        index class type shape offset
//   buffer 0 parameters fp32 256x128 0 persistent parameter 0 wte.weight
//   buffer 9 gradients fp32 4096 8192 persistent parameter 0 first 2048 within 8 at 8192 piece part:gradient:wte.weight
//   op F:c2:m3:b5.qkv uses 16r 0r 17w
//   op SEND.pipeline_forward:c2:m3 peer 3 bytes 32768 uses 17r after F:c2:m3:b5.down
//   op ALLREDUCE.data_gradient:c2:i0 group data bytes 4096 uses 3a previous OPT:c2:.update
//   op BROADCAST.tensor:c2:m3 group tensor root 4 bytes 4096 uses 3w
//
// `bytes` is informative: those of the first operand (communication.hpp); it is checked when parsed.
#include <fmt/format.h>

#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include "engine/op/word_list.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {
namespace {

constexpr std::string_view access_letters = "rwa";

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int i = 0; i < shape.rank; ++i) text += fmt::format("{}{}", i ? "x" : "", shape[i]);
  return text;
}

class Parser {
 public:
  RankProgram parse(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    bool header = false;
    while (std::getline(lines, line)) {
      ++line_;
      words_ = std::istringstream(line);
      std::string kind;
      if (!(words_ >> kind)) continue;
      if (kind == "rankscope-program") {
        if (word("a version") != "1") fail("unknown version; this reader knows version 1");
        header = true;
      } else if (!header) {
        fail("a program begins with 'rankscope-program 1'");
      } else if (kind == "rank") {
        program_.rank = static_cast<int>(number("a rank"));
      } else if (kind == "arena") {
        program_.arena_bytes = number("the arena's bytes");
      } else if (kind == "scratch") {
        program_.scratch_bytes = number("the scratch's bytes");
      } else if (kind == "host") {
        program_.host_bytes = number("the host's bytes");
      } else if (kind == "host_scratch") {
        program_.host_scratch_bytes = number("the host's scratch bytes");
      } else if (kind == "context") {
        program_.context_bytes = number("the context's bytes");
      } else if (kind == "arrivals") {
        program_.arrivals_ahead = static_cast<int>(number("steps"));
      } else if (kind == "buffer") {
        buffer();
      } else if (kind == "op") {
        op();
      } else {
        fail("unknown item '" + kind +
             "'; known: rank, arena, scratch, host, host_scratch, context, arrivals, buffer, op");
      }
    }
    if (!header) fail("a program begins with 'rankscope-program 1'");
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(fmt::format("line {}: {}", line_, why));
  }
  /// Built by append: GCC 12 falsely warns of an overlap in "literal" + std::string.
  static std::string expected(const char* what) {
    std::string text = "expected ";
    text.append(what);
    return text;
  }
  std::string word(const char* what) {
    std::string text;
    if (!(words_ >> text)) fail(expected(what));
    return text;
  }
  std::int64_t parse_number(std::string_view text, const char* what) const {
    if (const auto value = number_in<std::int64_t>(text)) return *value;
    fail(expected(what) + ", not '" + std::string(text) + "'");
  }
  std::int64_t number(const char* what) { return parse_number(word(what), what); }

  static BufferRole role_of(const Buffer& b) {
    if (b.memory == MemoryClass::parameters) return BufferRole::parameter;
    if (b.memory == MemoryClass::gradients) return BufferRole::gradient;
    if (b.memory != MemoryClass::optimizer) return BufferRole::activation;
    return b.parameter < 0 ? BufferRole::loss_scale : BufferRole::state;
  }

  void buffer() {
    if (number("the buffer's index") != static_cast<std::int64_t>(program_.buffers.size()))
      fail(fmt::format("buffers are numbered in order; expected {}", program_.buffers.size()));
    Buffer b;
    const std::string memory = word("a memory class");
    const auto known = value_named<MemoryClass>(memory, memory_class_count);
    if (!known) fail("unknown memory class '" + memory + "'");
    b.memory = *known;
    const std::string type = word("an element type");
    try {
      b.type = dtype_named(type);
    } catch (const std::invalid_argument& e) {
      fail(e.what());
    }
    const std::string shape = word("a shape such as 64x128");
    for (std::size_t at = 0; at <= shape.size();) {
      const std::size_t end = std::min(shape.find('x', at), shape.size());
      if (b.shape.rank == 4) fail("a shape has at most four extents");
      b.shape.extent[b.shape.rank++] = parse_number(std::string_view(shape).substr(at, end - at), "an extent");
      at = end + 1;
    }
    b.offset = number("an offset");
    for (std::string text = word("the buffer's name");; text = word("the buffer's name")) {
      if (text == "persistent")
        b.persistent = true;
      else if (text == "parameter")
        b.parameter = static_cast<int>(number("a parameter"));
      else if (text == "micro")
        b.micro_batch = static_cast<int>(number("a micro-batch"));
      else if (text == "first")
        b.first = number("an element");
      else if (text == "within")
        b.within = static_cast<int>(number("a buffer"));
      else if (text == "at")
        b.at = number("bytes");
      else if (text == "piece")
        b.piece = true;
      else if (text == "host")
        b.host = true;
      else {
        b.name = text;
        break;
      }
    }
    b.role = role_of(b);
    program_.buffers.push_back(std::move(b));
  }

  OpIndex earlier(const std::string& token) {
    const auto id = parse_token(token);
    const auto found = id ? index_.find(*id) : index_.end();
    if (found == index_.end()) fail("'" + token + "' is no op of an earlier line");
    return found->second;
  }

  void op() {
    std::string error;
    const std::string token = word("an op");
    const auto id = parse_token(token, &error);
    if (!id) fail(error);
    Op op{*id};
    std::int64_t bytes = -1;
    std::string mode, text;
    std::vector<std::string> previous;
    while (words_ >> text) {
      if (text == "group") {
        const std::string name = word("a group");
        const auto known = value_named<GroupKind>(name, group_kind_count);
        if (!known) fail("unknown group '" + name + "'");
        op.group = *known;
      } else if (text == "peer") {
        op.peer = static_cast<int>(number("a rank"));
      } else if (text == "root") {
        op.root = static_cast<int>(number("a rank"));
      } else if (text == "bytes") {
        bytes = number("bytes");
      } else if (text == "uses" || text == "after" || text == "previous") {
        mode = text;
      } else if (mode == "uses") {
        const auto letter = access_letters.find(text.back());
        const std::int64_t b =
            parse_number(std::string_view(text).substr(0, text.size() - 1), "a buffer and r, w or a");
        if (letter == std::string_view::npos || b < 0 || b >= static_cast<std::int64_t>(program_.buffers.size()))
          fail("'" + text + "' is no use of a buffer, such as 17r, 17w or 17a");
        op.uses.push_back({static_cast<BufferIndex>(b), static_cast<Access>(letter)});
      } else if (mode == "after") {
        op.after.push_back(earlier(text));
      } else if (mode == "previous") {
        previous_.push_back({program_.ops.size(), line_, text});
      } else {
        fail("unknown word '" + text + "'; known: group, peer, root, bytes, uses, after, previous");
      }
    }
    if (bytes >= 0 && bytes != program_.payload_bytes(op))
      fail(fmt::format("says {}, but its buffers hold {}", counted(bytes, "byte"), program_.payload_bytes(op)));
    if (!index_.emplace(*id, static_cast<OpIndex>(program_.ops.size())).second) fail("'" + token + "' appears twice");
    program_.ops.push_back(std::move(op));
  }

 public:
  /// `previous` may name any op of the program: resolved at the end.
  void resolve(RankProgram& program) {
    for (const auto& [op, line, token] : previous_) {
      line_ = line;
      program.ops[op].after_previous.push_back(earlier(token));
    }
  }

 private:
  struct Previous {
    std::size_t op;
    int line;
    std::string token;
  };
  RankProgram program_;
  std::istringstream words_;
  int line_ = 0;
  std::unordered_map<OpId, OpIndex> index_;
  std::vector<Previous> previous_;
};

}  // namespace

std::string to_text(const RankProgram& program) {
  std::string text = fmt::format("rankscope-program 1\nrank {}\narena {}\n", program.rank, program.arena_bytes);
  if (program.scratch_bytes > 0) text += fmt::format("scratch {}\n", program.scratch_bytes);
  if (program.host_bytes > 0) text += fmt::format("host {}\n", program.host_bytes);
  if (program.host_scratch_bytes > 0) text += fmt::format("host_scratch {}\n", program.host_scratch_bytes);
  if (program.context_bytes > 0) text += fmt::format("context {}\n", program.context_bytes);
  if (program.arrivals_ahead) text += fmt::format("arrivals {}\n", *program.arrivals_ahead);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    text += fmt::format("buffer {} ", i);
    text.append(name_of(b.memory)).append(" ").append(name_of(b.type)).append(" ");
    text += fmt::format("{} {}", shape_text(b.shape), b.offset);
    if (b.persistent) text += " persistent";
    if (b.parameter >= 0) text += fmt::format(" parameter {}", b.parameter);
    if (b.micro_batch >= 0) text += fmt::format(" micro {}", b.micro_batch);
    if (b.first > 0) text += fmt::format(" first {}", b.first);
    if (b.within >= 0) text += fmt::format(" within {} at {}", b.within, b.at);
    if (b.piece) text += " piece";
    if (b.host) text += " host";
    text += " " + b.name + "\n";
  }
  for (const Op& op : program.ops) {
    text += "op " + to_token(op.id);
    if (op.group != GroupKind::self) text.append(" group ").append(name_of(op.group));
    if (op.peer >= 0) text += fmt::format(" peer {}", op.peer);
    if (op.root >= 0) text += fmt::format(" root {}", op.root);
    if (moves_bytes(op.id.kind())) text += fmt::format(" bytes {}", program.payload_bytes(op));
    if (!op.uses.empty()) text += " uses";
    for (const BufferUse& use : op.uses)
      text += fmt::format(" {}{}", use.buffer, access_letters[static_cast<std::size_t>(use.access)]);
    if (!op.after.empty()) text += " after";
    for (const OpIndex before : op.after) text += " " + to_token(program.ops[before].id);
    if (!op.after_previous.empty()) text += " previous";
    for (const OpIndex before : op.after_previous) text += " " + to_token(program.ops[before].id);
    text += "\n";
  }
  return text;
}

RankProgram parse_program(const std::string& text) {
  Parser parser;
  RankProgram program = parser.parse(text);
  parser.resolve(program);
  return program;
}

}  // namespace rankscope
