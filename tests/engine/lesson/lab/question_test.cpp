// The keys of [[lab.questions]]: every kind of question, and invalid ones.
#include "engine/lesson/lab/question.hpp"

#include <algorithm>
#include <string>

#include "engine/lesson/lab/attempt_text.hpp"
#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::string lab_with(const std::string& question) {
  return "title = \"A lab\"\n[lab]\nsummary = \"One sentence.\"\ntext = \"Words.\"\n[[lab.questions]]\nask = \"?\"\n" +
         question;
}

Question question_of(const std::string& text) {
  const auto lab = parse_lab(lab_with(text), "lab.toml");
  REQUIRE(lab.has_value());
  REQUIRE(lab->questions.size() == 1);
  return lab->questions.front();
}

std::string refusal_of(const std::string& text) {
  try {
    parse_lab(lab_with(text), "lab.toml");
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("A number may have a formula, a variant, usual mistakes, a hint and evidence") {
  const Question question = question_of(R"(unit = "%"
formula = "100 * 3/19"
answer_from = "bubble.ideal"
set = { micro_batches = 16 }
tolerance = 1
mistakes = [{ near = "100 * 3/16", because = "A share of the useful time." }, { near = 27.3, because = "Eight." }]
hint = "Count the steps of a stage."
why = "3/19"
evidence = { view = "timeline", rank = 3, step = 2, op = "F:c3:m0" }
)");
  CHECK(question.kind == QuestionKind::number);
  CHECK(question.formula_value == Approx(300.0 / 19));
  CHECK(std::get<double>(*known_answer(question)) == Approx(300.0 / 19));
  REQUIRE(question.variant.has_value());
  CHECK(question.variant->settings == std::vector<std::string>{"plan.micro_batches=16"});
  CHECK_FALSE(question.variant->runs);
  REQUIRE(question.mistakes.size() == 2);
  CHECK(std::get<double>(question.mistakes[0].near) == 18.75);
  CHECK(question.mistakes[1].because == "Eight.");
  REQUIRE(question.evidence.has_value());
  CHECK(*question.evidence == Evidence{"timeline", 2, 3, "F:c3:m0"});
}

TEST_CASE("Choices, orders and ops state what is right") {
  const Question choice = question_of(R"(kind = "choice"
options = ["forward", "backward"]
answer = "backward"
mistakes = [{ near = "forward", because = "It keeps them." }]
)");
  CHECK(std::get<std::string>(*known_answer(choice)) == "backward");
  CHECK(choice.options.size() == 2);
  const Question order = question_of(R"(kind = "order"
items = ["forward", "backward", "update"]
)");
  CHECK(std::get<std::vector<std::string>>(*known_answer(order)) ==
        std::vector<std::string>{"forward", "backward", "update"});
  std::vector<std::string> mixed = shuffled(order);
  CHECK(mixed != order.options);
  CHECK(std::is_permutation(mixed.begin(), mixed.end(), order.options.begin(), order.options.end()));
  const Question point = question_of(R"(kind = "point"
answer = { rank = 3, kind = "forward", micro_batch = 0 }
)");
  const OpPattern wanted{.rank = 3, .micro_batch = 0, .kind = OpKind::forward};
  CHECK(std::get<OpPattern>(*known_answer(point)) == wanted);
  CHECK(words_of(wanted) == "forward of micro-batch 0 on rank 3");
  CHECK(wanted.matches({3, *parse_token("F:c3:m0:b7.qkv")}));
  CHECK_FALSE(wanted.matches({2, *parse_token("F:c3:m0")}));
  CHECK_FALSE(wanted.matches({3, *parse_token("B:c3:m0")}));
}

TEST_CASE("A rank or a link may be what is clicked") {
  const Question rank = question_of(R"(kind = "point"
at = "rank"
answer = { rank = 2 }
mistakes = [{ near = { ranks = [0, 1, 3] }, because = "It waits." }]
)");
  CHECK(rank.at == PointAt::rank);
  const auto right = std::get<RankPattern>(*known_answer(rank));
  CHECK(right.matches({2}));
  CHECK_FALSE(right.matches({1}));
  CHECK(words_of(std::get<RankPattern>(rank.mistakes[0].near)) == "rank 0, 1 or 3");
  CHECK(fits(rank, PointedRank{7}));
  CHECK_FALSE(fits(rank, PointedOp{2, *parse_token("F:c3:m0")}));

  const Question uplink = question_of(R"(kind = "point"
at = "link"
answer = { level = "node" }
mistakes = [{ near = { level = "leaf switch", unit = 1 }, because = "Wider." }]
)");
  const auto node = std::get<LinkPattern>(*known_answer(uplink));
  CHECK(node.matches({"node", 5, 0, 0}));
  CHECK_FALSE(node.matches({"leaf switch", 5, 0, 0}));
  CHECK_FALSE(node.matches({"", 0, 0, 1}));
  CHECK(words_of(node) == "the uplink of any node");
  CHECK(words_of(std::get<LinkPattern>(uplink.mistakes[0].near)) == "the uplink of leaf switch 1");

  const Question pair = question_of("kind = \"point\"\nat = \"link\"\nanswer = { from = 3, to = 0 }\n");
  const auto ring = std::get<LinkPattern>(*known_answer(pair));
  CHECK(ring.matches({"", 0, 3, 0}));
  CHECK_FALSE(ring.matches({"", 0, 0, 3}));
  CHECK(words_of(ring) == "the link from rank 3 to rank 0");
  CHECK(question_of("kind = \"point\"\nanswer = { rank = 3 }\n").at == PointAt::op);
}

TEST_CASE("An answer's text is read back as the answer, and other text is refused") {
  const Attempt answers[] = {31.5,
                             std::string("an \"option\""),
                             std::vector<std::string>{"a", "b"},
                             std::vector<double>{1, 2.5},
                             PointedOp{2, *parse_token("B:c1:m3")},
                             PointedRank{2},
                             PointedLink{"node", 3, 0, 0},
                             PointedLink{"", 0, 1, 2}};
  for (const Attempt& answer : answers) {
    INFO(attempt_text(answer));
    const auto read = parse_attempt(attempt_text(answer), kind_of(answer));
    REQUIRE(read);
    CHECK(*read == answer);
  }
  CHECK(attempt_text(PointedLink{"node", 3, 0, 0}) == R"({"level":"node","unit":3})");
  for (const char* none : {"", "{", "null", "[]", R"({"rank":"2"})", R"({"rank":2.5})", R"({"rank":2,"op":"none"})",
                           R"({"from":1})", R"({"level":"node"})", R"({"level":"node","unit":-1})"}) {
    INFO(none);
    CHECK_FALSE(parse_attempt(none, QuestionKind::point));
    CHECK_FALSE(parse_attempt(none, QuestionKind::order));
    CHECK_FALSE(parse_attempt(none, QuestionKind::draw));
  }
}

TEST_CASE("Without a formula a run gives the right value; a stated number may have any unit") {
  CHECK_FALSE(known_answer(question_of("unit = \"%\"\nanswer_from = \"bubble.measured\"\ntolerance = 2\n")));
  CHECK(std::get<double>(*known_answer(question_of("unit = \"days\"\nanswer = 34\ntolerance = 2\n"))) == 34);
}

TEST_CASE("An invalid question is refused with its position") {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {"tolerance = 2\n",
       "lab.toml:5:1: no right answer; give answer_from, such as \"bubble.measured\", formula or answer"},
      {"kind = \"essay\"\n", "lab.toml:7:1: unknown kind 'essay'; known: number, choice, order, draw and point"},
      {"kind = \"choice\"\noptions = [\"a\", \"b\"]\n",
       "lab.toml:5:1: the key 'answer' is missing; it is the right answer of a choice question"},
      {"kind = \"choice\"\noptions = [\"a\"]\nanswer = \"a\"\n",
       "lab.toml:5:1: a choice needs two options or more; write options = [\"…\", \"…\"]"},
      {"answer_from = \"memory.*.peak\"\nkind = \"number\"\ntolerance = 2\n",
       "lab.toml:7:1: 'memory.*.peak' is a value for each rank or step; its kind is draw"},
      {"answer = 3\nformula = \"1 + 2\"\ntolerance = 1\n",
       "lab.toml:8:1: both 'answer' and 'formula' give the right answer; keep one"},
      {"answer = 3\ntolerance = 1\nrun = true\n", "lab.toml:9:1: run applies to a variant; give set, too"},
      {"kind = \"point\"\nanswer = { }\n", "lab.toml:8:10: answer fits every op; give rank, kind or micro_batch"},
      {"kind = \"point\"\nat = \"lane\"\nanswer = { rank = 1 }\n",
       "lab.toml:8:1: there is no 'lane' to click; known: op, rank and link"},
      {"kind = \"choice\"\nat = \"rank\"\n", "lab.toml:8:1: at says what is clicked; give kind = \"point\", too"},
      {"kind = \"point\"\nat = \"rank\"\nanswer = { }\n",
       "lab.toml:9:10: answer names no rank; write it as { rank = 2 } or { ranks = [0, 1, 3] }"},
      {"kind = \"point\"\nat = \"rank\"\nanswer = { rank = -1 }\n",
       "lab.toml:9:19: rank takes whole numbers from 0 on"},
      {"kind = \"point\"\nat = \"link\"\nanswer = { unit = 3 }\n",
       "lab.toml:9:10: answer is a unit's uplink, or a link between two ranks; write it as { level = \"node\", unit = "
       "3 } "
       "or { from = 1, to = 2 }"},
  };
  for (const Row& row : rows) CHECK(refusal_of(row.text) == row.message);
  CHECK(refusal_of("answer = 3\ntolerance = 1\nset = { micro_batchs = 16 }\n").find("micro_batches") !=
        std::string::npos);
  CHECK(refusal_of("kind = \"choice\"\noptions = [\"a\", \"b\"]\nanswer = \"c\"\n").find("'c'") != std::string::npos);
}
