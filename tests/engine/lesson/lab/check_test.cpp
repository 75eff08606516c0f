// A lesson without faults, and variants with one fault of each kind.
#include "engine/lesson/lab/check.hpp"

#include "engine/lesson/lab/printed.hpp"
#include "engine/lesson/lab/symbols.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// Three eighths of (p - 1)/(m + p - 1): 27.27 %.
constexpr const char* good_lesson = R"(
title = "A pipeline"
[lab]
summary = "A pipeline."
view = "timeline"
needs = ["walls"]
text = """
## Read
A pipeline of p stages (p: number of stages) and m micro-batches is idle for (p - 1)/(m + p - 1) of a step.
Look at [the memory](view:memory?rank=0&step=last).

## Predict
The bubble.

## Run
Press *Run*, or

    rankscope-engine run a-pipeline --set micro_batches=16
    … --set plan.schedule=gpipe

## Compare
It was 27.3 %. Try `--set
zero=1`.
"""
[lab.symbols]
p = "stages"
m = "micro-batches of a step"
[[lab.questions]]
ask = "What share of the step is bubble, with 4 stages and 8 micro-batches?"
unit = "%"
answer_from = "bubble.measured"
formula = "100 * 3/11"
tolerance = 4
mistakes = [{near = 37.5, because = "That is a share of the useful time."}]
hint = "How many slots does a stage wait?"
why = "(p - 1)/(m + p - 1) = 3/11."
evidence = {view = "timeline", step = 1}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = good_lesson;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct Simulated {
  std::optional<double> value = 29.4;
  std::vector<double> series{};
};

std::vector<std::string> faults(const std::string& text, const Simulated& simulated = {}) {
  const auto lab = parse_lab(text, "a-pipeline.toml");
  REQUIRE(lab);
  CheckAgainst against;
  against.labs = {"walls", "zero"};
  against.simulated = [&](const Lab&, const Question&) { return simulated.value; };
  against.simulated_series = [&](const Lab&, const Question&) { return simulated.series; };
  return faults_of(*lab, against);
}

/// The only fault that the check finds.
std::string fault(const std::string& text, const Simulated& simulated = {}) {
  const std::vector<std::string> all = faults(text, simulated);
  std::string words;
  for (const std::string& one : all) words += one + "\n";
  INFO(words);
  REQUIRE(all.size() == 1);
  return all.front();
}

void check_finds(const std::string& fault, std::initializer_list<const char*> words) {
  INFO(fault);
  for (const char* word : words) {
    INFO(word);
    CHECK(fault.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a lesson without faults has none, whether or not anything simulates it") {
  CHECK(faults(good_lesson).empty());
  CHECK(faults(good_lesson, {std::nullopt, {}}).empty());
}

TEST_CASE("an answer that the text prints before Run is a fault, in any of its forms") {
  for (const char* printed : {"So it is 27.3 %.", "So it is 27.3%.", "That makes **27** per cent.", "It is 3/11 of it.",
                              "Shares of 27.3 and 50 %.", "| rank | bubble, % |\n|---|---|\n| 0 | 27.3 |\n"}) {
    INFO(printed);
    check_finds(fault(with("The bubble.\n", std::string("The bubble.\n\n") + printed + "\n")),
                {"a-pipeline.toml:question 1: ", "prints the answer before Run", "ask for something else"});
  }
  for (const char* harmless :
       {"The useful time is 72.7 %.", "27.3 ms are a step.", "It has 27 ranks.", "30 %", "3/8 of it"}) {
    INFO(harmless);
    CHECK(faults(with("The bubble.\n", std::string("The bubble.\n\n") + harmless + "\n")).empty());
  }
}

TEST_CASE("an answer that only a run gives is revealed by any number that would be accepted") {
  const std::string asked = with("formula = \"100 * 3/11\"\n", "");
  CHECK(faults(asked).empty());
  const std::string text = asked.substr(0, asked.find("The bubble.")) + "The textbook says 27.3 %." +
                           asked.substr(asked.find("The bubble.") + 11);
  check_finds(fault(text), {"question 1", "'27.3%'"});
}

TEST_CASE("quoting the right option before Run is a fault; listing all options is none") {
  const auto choice = [](const std::string& text) {
    return with("The bubble.\n", "The bubble.\n\n" + text + "\n") +
           "[[lab.questions]]\nkind = \"choice\"\nask = \"Which?\"\n"
           "options = [\"the last stage has the head\", \"the first stage has the head\"]\n"
           "answer = \"the last stage has the head\"\nmistakes = [{near = \"the first stage has the head\", because = "
           "\"No.\"}]\n";
  };
  CHECK(faults(choice("Nothing of it.")).empty());
  check_finds(fault(choice("Mind that the *last\nstage* has the head.")),
              {"question 2", "the last stage has the head"});
  CHECK(faults(choice("Either the last stage has the head, or the first stage has the head.")).empty());
}

TEST_CASE("items that the text lists in their right order are a fault") {
  const auto order = [](const std::string& text) {
    return with("The bubble.\n", "The bubble.\n\n" + text + "\n") +
           "[[lab.questions]]\nkind = \"order\"\nask = \"In which order?\"\nitems = [\"forward\", \"backward\", "
           "\"update\"]\n";
  };
  CHECK(faults(order("The update needs the backward, and that the forward.")).empty());
  check_finds(fault(order("A step is forward, backward and update.")), {"question 2", "forward, backward and update"});
}

TEST_CASE("counts in words are found, other small numbers are not") {
  const auto count = [](const std::string& text) {
    return with("The bubble.\n", "The bubble.\n\n" + text + "\n") +
           "[[lab.questions]]\nask = \"How many buckets are there?\"\nanswer = 2\ntolerance = 0.4\nhint = \"h\"\nwhy = "
           "\"w\"\n"
           "[lab.questions.evidence]\nview = \"memory\"\n";
  };
  const auto symbols = [](std::string text) {
    return text.replace(text.find("hint = \"h\"\nwhy = \"w\""), 20, "hint = \"Count.\"\nwhy = \"Two.\"");
  };
  CHECK(faults(symbols(count("It has 2 stages and 2 ranks."))).empty());
  check_finds(fault(symbols(count("They come in two buckets."))), {"question 2", "two buckets"});
  check_finds(fault(symbols(count("They come in 2 buckets."))), {"question 2", "'2'"});
}

TEST_CASE("a range that excludes the simulated value is a fault, and says how wide it would have to be") {
  check_finds(fault(good_lesson, {33.0, {}}),
              {"question 1", "23.27 to 31.27 %", "excludes the simulated 33 %", "formula", "5.727 %"});
}

TEST_CASE("a range that includes a listed mistake is a fault") {
  check_finds(fault(with("near = 37.5", "near = 30")), {"question 1", "includes the mistake near 30 %", "2.727 %"});
  const auto choice = std::string(good_lesson) +
                      "[[lab.questions]]\nkind = \"choice\"\nask = \"Which?\"\noptions = [\"one\", \"two\"]\n"
                      "answer = \"one\"\nmistakes = [{near = \"one\", because = \"No.\"}]\n";
  check_finds(fault(choice), {"question 2", "a mistake is the right answer"});
}

TEST_CASE("a range that includes the opposite answer, or half of the value, is a fault") {
  check_finds(fault(with("100 * 3/11", "48"), {48.0, {}}), {"question 1", "the opposite answer, 52 %", "below 4 %"});
  check_finds(fault(with("100 * 3/11", "6"), {6.0, {}}), {"question 1", "half of the value or more", "below 3 %"});
  check_finds(fault(with("100 * 3/11", "95"), {95.0, {}}), {"question 1", "what is left to 100 %", "below 2.5 %"});
}

TEST_CASE("a drawing whose tolerance accepts a flat line is a fault") {
  const auto drawn = [](const char* tolerance) {
    return std::string(good_lesson) +
           "[[lab.questions]]\nask = \"Draw the activations.\"\nunit = \"MiB\"\n"
           "answer_from = \"memory.*.activations\"\nmost = 32\ntolerance = " +
           tolerance + "\n";
  };
  const Simulated staircase{29.4, {16, 12, 8, 4}};  // a flat line is 4 off, the reversed drawing 8
  CHECK(faults(drawn("1.5"), staircase).empty());
  check_finds(fault(drawn("4.5"), staircase), {"question 2", "a flat line is accepted", "below 4 MiB"});
}

TEST_CASE("a symbol that neither the lesson nor the glossary defines is a fault, once") {
  check_finds(fault(with("The bubble.\n", "The bubble, with N ranks and N nodes.\n")),
              {"a-pipeline.toml:text: ", "'N'", "[lab.symbols]"});
  check_finds(fault(with("why = \"(p", "why = \"Here κ is one. (p")), {"question 1", "'κ'"});
  const auto lab = parse_lab(with("m = \"micro-batches of a step\"\n", ""), "a-pipeline.toml");
  CheckAgainst against;
  against.labs = {"walls"};
  CHECK(faults_of(*lab, against).size() == 1);
  against.glossary =
      parse_glossary("[[term]]\nname = \"micro-batches\"\nsymbol = \"m\"\nmeans = \"Parts of a batch.\"\n", "g");
  CHECK(faults_of(*lab, against).empty());
}

TEST_CASE("symbols are single letters that stand for a quantity, and nothing else") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"12 L h² + 2Ψ/N", {"L", "h", "Ψ", "N"}},
      {"    bubble = (p - 1)/m", {"p", "m"}},
      {"rank r has log₂N phases", {"r", "N"}},
      {"A rank and I; a step of 5 s, 3 GB at 4 B/s, 50 µs, 8 x 64, 1e-4, 3D", {}},
      {"ZB-H1, GPT-3, C++, e.g. J. Smith, the rank's head, don't, F:c0, (a) and b)", {"b"}},
      {"code `x` and [words](view:memory?rank=q) and in a V", {}},
      {"    rankscope-engine run k --set z=1\n    … --set w=2", {}},
      {"    h x 3h + y x W\n    y = x + 1; press F, the key W", {"h", "y", "W", "x"}},
      {"    i = int(os.environ[\"LOCAL_RANK\"])\n    torch.cuda.set_device(i)", {}},
      {"FLOP/s and MiB/s, n/s", {"n", "s"}},
  };
  for (const auto& [text, symbols] : cases) {
    INFO(text);
    CHECK(symbols_in(text) == symbols);
  }
}

TEST_CASE("a key after --set that no scenario has, or a value that it cannot have, is a fault") {
  check_finds(fault(with("--set micro_batches=16", "--set micro_batch=16")),
              {"text: --set micro_batch=16", "micro_batches"});
  check_finds(fault(with("`--set\nzero=1`", "`--set\nzero=many`")), {"text: --set zero=many"});
  CHECK(faults(with("`--set\nzero=1`", "`--set KEY=VALUE` or `--set zero=…`").replace(0, 0, "")).size() == 1);  // KEY
}

TEST_CASE("unknown names of labs, views and parameters are faults") {
  check_finds(fault(with("needs = [\"walls\"]", "needs = [\"wals\"]")),
              {"a-pipeline.toml:needs: ", "'wals'", "did you mean 'walls'?"});
  check_finds(fault(with("view = \"timeline\"\nneeds", "view = \"timelines\"\nneeds")),
              {"view: ", "'timelines'", "'timeline'"});
  check_finds(fault(with("evidence = {view = \"timeline\"", "evidence = {view = \"memories\"")),
              {"question 1", "'memories'"});
  check_finds(fault(with("view:memory", "view:memoires")), {"text: ", "view:memoires", "'memory'"});
  check_finds(fault(with("rank=0&", "node=0&")), {"text: ", "unknown parameter 'node'", "step, rank or op"});
  check_finds(fault(with("step=last", "step=next")), {"text: ", "step takes a number"});
  CHECK(faults(with("step=last", "op=F:c0:m0")).empty());
  check_finds(fault(with("step=last", "op=forward")), {"text: ", "op takes a token"});
  CHECK(
      faults(with("view:memory?rank=0&step=last", "view:formats?value=bf16:0x3f80&update=2^-24&page=scales")).empty());
  check_finds(fault(with("view:memory?rank=0&step=last", "view:formats?value=one")),
              {"text: ", "value takes a number", "arithmetic"});
  check_finds(fault(with("view:memory?rank=0&step=last", "view:formats?update=fp16:0x10000")),
              {"text: ", "update takes a number", "16 bits"});
  check_finds(fault(with("view:memory?rank=0&step=last", "view:formats?page=bits")),
              {"text: ", "number, gradients, scales"});
  check_finds(fault(with("step=last", "page=scales")), {"text: ", "unknown parameter 'page'"});
  CHECK(faults(with("view:memory?rank=0&step=last", "view:puzzle?stages=3&micro_batches=8&kept=2&halves=1")).empty());
  check_finds(fault(with("view:memory?rank=0&step=last", "view:puzzle?stages=7")), {"text: ", "stages is from 2 to 6"});
  check_finds(fault(with("view:memory?rank=0&step=last", "view:puzzle?kept=all")), {"text: ", "kept is from 0 to 8"});
  CHECK(faults(with("view:memory?rank=0&step=last", "view:validation?table=bloom")).empty());
  check_finds(fault(with("view:memory?rank=0&step=last", "view:validation?table=blooms")),
              {"text: ", "table is one of", "bloom"});
  // The view that a lesson opens accepts the same parameters as a link.
  CHECK(faults(with("view = \"timeline\"\nneeds", "view = \"formats?page=gradients\"\nneeds")).empty());
  check_finds(fault(with("view = \"timeline\"\nneeds", "view = \"formats?page=bits\"\nneeds")),
              {"view: ", "number, gradients, scales"});
}

TEST_CASE("a question for a number without a hint or an explanation is a fault") {
  check_finds(fault(with("hint = \"How many slots does a stage wait?\"\n", "")), {"question 1", "no hint"});
  check_finds(fault(with("why = \"(p - 1)/(m + p - 1) = 3/11.\"\n", "")), {"question 1", "no why"});
}

TEST_CASE("a scenario that cannot be simulated is a fault of the question that asks about it") {
  const auto lab = parse_lab(good_lesson, "a-pipeline.toml");
  CheckAgainst against;
  against.labs = {"walls"};
  against.simulated = [](const Lab&, const Question&) -> std::optional<double> {
    throw std::runtime_error("no such plan");
  };
  const auto all = faults_of(*lab, against);
  REQUIRE(all.size() == 1);
  check_finds(all[0], {"question 1", "cannot be simulated: no such plan"});
}

TEST_CASE("a course names existing labs, each once") {
  const auto course = [](const std::string& labs) {
    return faults_of(
        parse_course("title = \"T\"\nsummary = \"S\"\n[[section]]\ntitle = \"One\"\nlabs = [" + labs + "]\n", "c.toml"),
        {"walls", "zero"});
  };
  CHECK(course("\"walls\", \"zero\"").empty());
  check_finds(course("\"walls\", \"hero\"").at(0), {"c.toml:section 'One': ", "'hero'", "'zero'"});
  check_finds(course("\"walls\", \"walls\"").at(0), {"twice"});
}

TEST_CASE("a term of the glossary points to an existing lab") {
  const auto glossary = [](const std::string& see) {
    return parse_glossary("[[term]]\nname = \"bubble\"\nmeans = \"Idle time.\"\nsee = \"" + see + "\"\n", "g");
  };
  CHECK(faults_of(glossary("walls"), {"walls", "zero"}).empty());
  check_finds(faults_of(glossary("wall"), {"walls", "zero"}).at(0),
              {"term 'bubble'", "'wall'", "did you mean 'walls'?"});
}

TEST_CASE("a number of a text has its value, its last digit and its unit") {
  const auto numbers = numbers_in("1,627,392 parameters, 6.21 MiB; 4.0 and 8 ms; 27\u00a0%; H100; v2.5; 3.1, 6.2 KiB");
  REQUIRE(numbers.size() == 7);
  CHECK(numbers[0].value == 1627392);
  CHECK(numbers[0].noun == "parameters");
  CHECK(numbers[1].value == 6.21);
  CHECK(numbers[1].half_digit == Approx(0.005));
  CHECK(numbers[1].unit == "MiB");
  CHECK(numbers[2].unit == "ms");
  CHECK(numbers[3].unit == "ms");
  CHECK(numbers[4].unit == "%");
  CHECK(numbers[5].unit == "KiB");
  CHECK(numbers[6].value == 6.2);
}

TEST_CASE("a question about a rank or a link that the plan does not have is a fault") {
  const auto fault_with = [](const std::string& at, const std::string& keys) {
    const std::string text = std::string(good_lesson) + "[[lab.questions]]\nkind = \"point\"\nat = \"" + at +
                             "\"\nask = \"Which?\"\n" + keys + "\n";
    CheckAgainst against;
    against.labs = {"walls"};
    against.glossary = {};
    against.places = [](const Lab&) { return ClickedPlaces{4, {{"device", 4}, {"node", 2}}}; };
    const auto lab = parse_lab(text, "a-pipeline.toml");
    std::string all;
    for (const std::string& fault : faults_of(*lab, against))
      if (fault.find("question 2") != std::string::npos) all += fault;
    return all;
  };
  CHECK(fault_with("rank", "answer = { rank = 3 }").empty());
  CHECK(fault_with("rank", "answer = { rank = 4 }") ==
        "a-pipeline.toml:question 2: there is no rank 4; the plan has ranks 0 to 3");
  check_finds(
      fault_with("rank", "answer = { rank = 1 }\nmistakes = [{ near = { ranks = [0, 1] }, because = \"No.\" }]"),
      {"question 2", "a mistake names rank 1, which is right"});
  CHECK(fault_with("link", "answer = { level = \"node\", unit = 1 }").empty());
  check_finds(fault_with("link", "answer = { level = \"node\", unit = 2 }"), {"there is no node 2", "0 to 1"});
  check_finds(fault_with("link", "answer = { level = \"nodes\" }"), {"level", "nodes", "node"});
  check_finds(fault_with("link", "answer = { from = 0, to = 9 }"), {"there is no rank 9"});
}
