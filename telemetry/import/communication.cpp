#include "telemetry/import/communication.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace rankscope::import {
namespace {

/// Letters and digits, in lower case: "_AllGather_base" and "all_gather" differ in nothing else.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') text += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
  }
  return text;
}

/// In this order: a word may be part of a later one's text ("scatter" of "reduce_scatter").
constexpr std::array<std::pair<std::string_view, OpKind>, 12> words{{
    {"allreduce", OpKind::all_reduce},
    {"barrier", OpKind::all_reduce},
    {"reducescatter", OpKind::reduce_scatter},
    {"allgather", OpKind::all_gather},
    {"alltoall", OpKind::all_to_all},
    {"broadcast", OpKind::broadcast},
    {"reduce", OpKind::reduce},
    {"scatter", OpKind::scatter},
    {"gather", OpKind::gather},
    {"send", OpKind::send},
    {"recv", OpKind::receive},
    {"receive", OpKind::receive},
}};

std::optional<OpKind> kind_in(const std::string& text) {
  for (const auto& [word, kind] : words)
    if (text.find(word) != std::string::npos) return kind;
  return {};
}

/// "ns::kernel" of "void (anonymous namespace)::ns::kernel<float, WarpAllReduce>(float*)".
std::string_view function_of(std::string_view name) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::size_t from = 0;
  if (const std::size_t at = name.find(anonymous); at != std::string_view::npos) from = at + anonymous.size();
  return name.substr(0, name.find_first_of("<(", from));
}

}  // namespace

std::optional<OpKind> kind_of_communication(std::string_view name) {
  if (const std::size_t at = name.find(':'); at != std::string_view::npos) name.remove_prefix(at + 1);
  return kind_in(plain(name));
}

std::optional<KernelCommunication> communication_of_kernel(std::string_view name) {
  // Inductor names a fused kernel after the operators around it, collectives among them.
  if (name.starts_with("triton_")) return {};
  const std::string text = plain(function_of(name));
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  const bool is_library = has("nccl") || has("rccl") || has("msccl");
  if (has("sendrecv")) return KernelCommunication{};
  if (is_library) return KernelCommunication{kind_in(text)};
  // Kernels of vLLM and SGLang, symmetric memory, TensorRT-LLM and DeepEP, which have no common prefix.
  if (has("crossdevicereduce")) return KernelCommunication{OpKind::all_reduce};
  const bool is_expert_exchange = has("deepep") || has("internode") || has("intranode");
  if (is_expert_exchange && (has("dispatch") || has("combine") || has("notify")))
    return KernelCommunication{OpKind::all_to_all};
  for (const std::string_view word : {"allreduce", "reducescatter", "allgather", "alltoall"})
    if (has(word)) return KernelCommunication{kind_in(std::string(word))};
  return {};
}

int bytes_of_type(std::string_view type) {
  const std::string text = plain(type.substr(type.starts_with("c10::") ? 5 : 0));
  if (text.starts_with("float8")) return 1;
  for (const auto& [name, bytes] : std::initializer_list<std::pair<std::string_view, int>>{
           {"float", 4},          {"double", 8},  {"half", 2},        {"bfloat16", 2},
           {"long", 8},           {"longint", 8}, {"int", 4},         {"short", 2},
           {"shortint", 2},       {"char", 1},    {"signedchar", 1},  {"byte", 1},
           {"unsignedchar", 1},   {"bool", 1},    {"complexhalf", 4}, {"complexfloat", 8},
           {"complexdouble", 16}, {"uint16", 2},  {"uint32", 4},      {"uint64", 8}})
    if (text == name) return bytes;
  return 0;
}

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '[' || *at == ']') {
      ++at;
      continue;
    }
    int rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc{} || rank < 0) return {};
    ranks.push_back(rank);
    at = next;
  }
  return ranks;
}

std::int64_t element_count(std::string_view dimensions) {
  std::int64_t sum = 0, product = 1;
  bool is_open = false, has_any = false;
  const char* at = dimensions.data();
  const char* const end = at + dimensions.size();
  while (at != end) {
    if (*at == '[') {
      is_open = true;
      product = 1;
    } else if (*at == ']') {
      if (is_open && __builtin_add_overflow(sum, product, &sum)) return -1;
      has_any |= is_open;
      is_open = false;
    } else if (*at != ' ' && *at != ',' && *at != '\n') {
      std::int64_t size = 0;
      const auto [next, error] = std::from_chars(at, end, size);
      if (error != std::errc{} || size < 0 || __builtin_mul_overflow(product, size, &product)) return -1;
      at = next;
      continue;
    }
    ++at;
  }
  return has_any ? sum : -1;
}

}  // namespace rankscope::import
