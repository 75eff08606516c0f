#include "engine/lesson/handout/handout.hpp"

#include "engine/lesson/handout/markdown.hpp"
#include "tests/engine/lesson/handout/sample_lab.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a hand-out asks every question and answers none") {
  const std::string page = handout_html(sample_handout(false));
  const std::string text =
      handout_markdown(sample_handout(false), [](const Sheet&, const Picture& p) { return p.name + ".svg"; });
  for (const std::string& one : {page, text}) {
    for (const Question& question : sample_lab().questions) CHECK(has(one, question.ask));
    for (const char* answer :
         {"27.3", "29.36", "useful time", "frees at once", "Students divide", "because stages", "Count slots"}) {
      INFO(answer);
      CHECK_FALSE(has(one, answer));
    }
    CHECK(has(one, "Why is it so?"));
    CHECK(one.find("What share") < one.find("rankscope-engine run a"));  // the prediction is before the run
    CHECK(one.find("rankscope-engine run a") < one.find("Time line, simulated."));
  }
  CHECK(has(page, "<svg id=\"drawn\">"));
  CHECK(has(text, "](timeline.svg)"));
}

TEST_CASE("the instructor's edition has answers, tolerances, reasons, mistakes and notes") {
  const std::string page = handout_html(sample_handout(true));
  const std::string text =
      handout_markdown(sample_handout(true), [](const Sheet&, const Picture& p) { return p.name; });
  for (const std::string& one : {page, text})
    for (const char* words :
         {"27.27 %", "4 % more or less is accepted", "simulated: 29.36 %", "100 * 3/11", "3/11 = 27.3%", "37.5 %",
          "useful time", "Count slots", "frees at once", "forward → backward → update", "16, 12, 8, 4 MiB",
          "backward of micro-batch 0 on rank 3", "Students divide", "because stages", "known after a run"}) {
      INFO(words);
      CHECK(has(one, words));
    }
}

TEST_CASE("large numbers have all their digits, in groups") {
  Question question;
  CHECK(value_words(question, 196608) == "196,608");
  CHECK(value_words(question, 1234567.4) == "1,234,567");
  CHECK(value_words(question, 27.2727) == "27.27");
  question.unit = "MiB";
  CHECK(value_words(question, -0.0625) == "-0.0625 MiB");
}

TEST_CASE("an order is printed shuffled") {
  const std::string page = handout_html(sample_handout(false));
  const std::size_t forward = page.find("</span>forward"), backward = page.find("</span>backward"),
                    update = page.find("</span>update");
  REQUIRE(update != std::string::npos);
  CHECK_FALSE((forward < backward && backward < update));
}

TEST_CASE("a lesson's Markdown becomes HTML with tables, without scripts and links into the window") {
  const std::string html = html_of(sample_lab().text);
  CHECK(has(html, "<td>11</td>"));
  CHECK(has(html, "see the time line."));
  CHECK_FALSE(has(html, "view:"));
  CHECK_FALSE(has(html, "<script>"));
  CHECK(has(html, "<pre><code>rankscope-engine run a"));
  CHECK(inline_html_of("a *b*") == "a <em>b</em>");
}

TEST_CASE("folded answers are whole block quotes, and other quotes stay") {
  CHECK(without_answers("Why?\n\n> Answer: so\n> and so.\n\n> A quote.\nEnd\n") == "Why?\n\n\n> A quote.\nEnd\n");
}
