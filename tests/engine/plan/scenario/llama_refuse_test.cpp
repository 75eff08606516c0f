// Refused scenarios of Llamas.
#include <string>

#include "tests/engine/plan/scenario/refusal.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("what a llama does not have, and heads and widths that cannot be divided, are refused") {
#define LLAMA "[model]\nkind = \"llama\"\nwidth = 64\nheads = 8\n"
  const Row rows[] = {
      {LLAMA "dropout = 0.1\n", {}, "s.toml:5:1: a llama has no dropout; use dropout = 0"},
      {LLAMA "key_value_heads = 3\n",
       {},
       "s.toml:5:1: 8 heads cannot be grouped over key_value_heads = 3; a number that divides them would do"},
      {"[model]\nkind = \"llama\"\nwidth = 24\nheads = 8\n",
       {},
       "s.toml:4:1: rotary positions turn pairs of numbers, and a head of width 24 over 8 heads has 3; heads of an "
       "even "
       "width would do"},
      {LLAMA "key_value_heads = 2\n[plan]\ntensor = 4\n",
       {},
       "s.toml:5:1: key_value_heads = 2 cannot be shared by 4 tensor ranks, which would need copies of them; use "
       "tensor = 2, or key_value_heads = 8"},
      {LLAMA "inner = 90\n[plan]\ntensor = 4\n",
       {},
       "s.toml:5:1: an MLP of width 90 cannot be shared by 4 tensor ranks; inner = 92 would do"},
      {LLAMA "[plan]\ntensor = 3\n",
       {},
       "s.toml:6:1: 8 heads cannot be shared by 3 tensor ranks; tensor = 2 or 4 would do"},
  };
  for (const Row& row : rows) check(row);
  CHECK_NOTHROW(parse_scenario(LLAMA "key_value_heads = 2\ninner = 90\n[plan]\ntensor = 2\n", "s.toml"));
#undef LLAMA
}
