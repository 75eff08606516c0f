// A lesson with one question of each kind.
#pragma once
#include "engine/lesson/handout/handout.hpp"
#include "tests/catch.hpp"

namespace rankscope::test {

inline Lab sample_lab() {
  const auto lab = parse_lab(R"(
title = "Slots / of a pipeline"
[lab]
summary = "Where slots go."
minutes = 20
needs = ["walls"]
teacher = "Students divide by *m*."
text = """
## Read
A pipeline is idle; see [the time line](view:timeline?step=1). <script>alert(1)</script>

| stage | slots |
|---|---|
| 0 | 11 |

## Predict
The bubble.

## Run
    rankscope-engine run a

## Compare
Why is it so?

> Answer: because stages
> wait for each other.

## Explain
It ends.
"""
[[lab.questions]]
ask = "What share of the step is bubble: {p = 4}?"
unit = "%"
answer_from = "bubble.measured"
formula = "100 * 3/11"
tolerance = 4
mistakes = [{near = "100 * 3/8", because = "That is of the useful time."}]
hint = "Count slots."
why = "3/11 = 27.3%."
[[lab.questions]]
kind = "choice"
ask = "Which stage keeps most?"
options = ["the last", "the first"]
answer = "the first"
mistakes = [{near = "the last", because = "It frees at once."}]
[[lab.questions]]
kind = "order"
ask = "In which order?"
items = ["forward", "backward", "update"]
[[lab.questions]]
kind = "order"
ask = "Which of the two is first?"
items = ["warm-up", "cool-down"]
[[lab.questions]]
ask = "Draw the activations."
unit = "MiB"
answer_from = "memory.*.activations"
most = 32
tolerance = 1.5
[[lab.questions]]
kind = "point"
ask = "Click the first backward."
answer = {rank = 3, kind = "backward", micro_batch = 0}
[[lab.questions]]
ask = "What is the loss?"
unit = "nats"
answer_from = "mfu"
tolerance = 0.1
)",
                             "labs/slots.toml");
  REQUIRE(lab);
  return *lab;
}

inline Handout sample_handout(bool answers) {
  Sheet sheet{sample_lab()};
  sheet.ranks = 4;
  sheet.simulated = {Target(29.36), std::nullopt, std::nullopt, std::nullopt, Target(std::vector<double>{16, 12, 8, 4}),
                     std::nullopt,  std::nullopt};
  sheet.pictures = {{"timeline", "Time line, simulated.", "<svg id=\"drawn\"></svg>"}};
  return {.title = sheet.lab.title, .sheets = {sheet}, .answers = answers};
}

}  // namespace rankscope::test
