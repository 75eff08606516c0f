// A recording as one HTML file: its embedded data equal the report's, and a browser shows them.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "engine/op/words.hpp"
#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

/// A run of the small 1F1B lab, on four ranks.
std::string recording(const Folder& folder, int steps) {
  const std::string file = (folder / "run.mcap").string();
  const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", std::to_string(steps),
                                                       "--clock", "device", "--json", "--record", file}));
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  return file;
}

std::string exported(const Folder& folder, const std::string& trace) {
  const std::string page = (folder / "run.html").string();
  const Ended ended = trace_tool(folder, {"export", trace, "--as", "html", "-o", page});
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  return page;
}

json data_in(const std::string& page) {
  const std::string text = content_of(page), begin = "id=\"data\">";
  const std::size_t at = text.find(begin);
  REQUIRE(at != std::string::npos);
  return parse_json(text.substr(at + begin.size(), text.find("</script>", at) - at - begin.size()));
}

/// The value of a figure of the page.
std::string figure_of(const json& data, const std::string& id) {
  for (const json& figure : data["figures"])
    if (figure["id"] == id) return figure["value"];
  return "";
}

std::string percent(const json& share) { return figure::percent(share.get<double>()); }

/// Lines of "rankscope-trace export --format csv" that begin with a rank, by rank, lane and op.
std::multimap<std::string, std::pair<std::int64_t, std::int64_t>> csv_spans(const Folder& folder,
                                                                            const std::string& trace) {
  const Ended csv = trace_tool(folder, {"export", trace, "--format", "csv", "--obtained", "emulated"});
  REQUIRE(csv.status == 0);
  std::multimap<std::string, std::pair<std::int64_t, std::int64_t>> spans;
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    REQUIRE(cells.size() >= 10);
    spans.insert({cells[0] + "/" + cells[3] + "/" + cells[4], {std::stoll(cells[7]), std::stoll(cells[9])}});
  }
  return spans;
}

std::string browser() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      std::error_code none;
      const auto file = std::filesystem::path(folder) / name;
      if (std::filesystem::is_regular_file(file, none)) return file.string();
    }
  return "";
}

/// The page in the browser after its script has run.
std::string dom_of(const Folder& folder, const std::string& program, const std::string& address) {
  Process process(folder, {program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--no-first-run", "--window-size=1366,768", "--virtual-time-budget=3000",
                           "--user-data-dir=" + (folder / "browser").string(), "--dump-dom", address});
  const Ended ended = process.wait(a_minute);
  INFO(ended.err);
  REQUIRE(ended.in_time);
  REQUIRE(ended.status == 0);
  return ended.out;
}

}  // namespace

TEST_CASE("a page states the recording's report, to the printed digits") {
  const Folder folder;
  const std::string trace = recording(folder, 8);
  const json data = data_in(exported(folder, trace));
  const json report = only_object(trace_tool(folder, {"stats", trace, "--json"}));

  CHECK(figure_of(data, "bubble") == percent(report["bubble"]["measured"]));
  CHECK(figure_of(data, "bubble-ideal") == percent(report["bubble"]["ideal"]));
  CHECK(figure_of(data, "bubble-predicted") == percent(report["bubble"]["predicted"]));
  CHECK(figure_of(data, "bubble-span") == percent(report["bubble_span"]["measured"]));
  CHECK(figure_of(data, "step-seconds") == figure::duration(report["step_seconds"].get<double>()));

  // The step of the report's shares is in the table with the same shares, which sum to 1.
  const json& kind = data["kinds"][0];
  CHECK(kind["obtained"] == report["obtained"]);
  const auto step = std::find_if(kind["steps"].begin(), kind["steps"].end(),
                                 [&](const json& one) { return one["step"] == data["representative"]; });
  REQUIRE(step != kind["steps"].end());
  CHECK((*step)["workers"] == 4);
  CHECK((*step)["bubble"].get<double>() == Approx(report["bubble"]["measured"].get<double>()));
  double sum = 0;
  for (std::size_t t = 0; t < data["times"].size(); ++t) {
    const std::string name = data["times"][t];
    INFO(name);
    CHECK((*step)["shares"][t].get<double>() == Approx(report["time"][name].get<double>()).margin(1e-9));
    sum += (*step)["shares"][t].get<double>();
  }
  CHECK(sum == Approx(1));
  // The idle time counted as bubble is that share of the step time times the ranks.
  const auto bubble = std::find(data["times"].begin(), data["times"].end(), "bubble") - data["times"].begin();
  double idle = 0;
  for (const json& one : (*step)["idle"]) {
    double parts = 0;
    for (const json& part : one[3]) {
      parts += part[1].get<double>();
      if (part[4] == bubble) idle += part[1].get<double>();
    }
    CHECK(parts == one[2].get<double>());
  }
  CHECK(idle / (4 * ((*step)["end"].get<double>() - (*step)["begin"].get<double>())) ==
        Approx((*step)["bubble"].get<double>()).margin(1e-6));
}

TEST_CASE("a page has every span of the steps that it shows, and its memory adds up to the ledger's peak") {
  const Folder folder;
  const std::string trace = recording(folder, 4);
  const json data = data_in(exported(folder, trace));
  const json& kind = data["kinds"][0];
  REQUIRE(kind["obtained"] == "emulated");
  auto spans = csv_spans(folder, trace);
  std::optional<std::int64_t> base;  // a page's times are from its first step's begin
  std::size_t found = 0;
  for (const json& lane : kind["lanes"]) {
    std::int64_t begin = 0, step = 0;
    const json& row = lane["spans"];
    REQUIRE(row.size() % 5 == 0);
    for (std::size_t i = 0; i < row.size(); i += 5, ++found) {
      begin += row[i].get<std::int64_t>();
      step += row[i + 4].get<std::int64_t>();
      const std::string key = std::to_string(lane["rank"].get<int>()) + "/" + std::to_string(step) + "/" +
                              data["ops"][row[i + 3].get<std::size_t>()][0].get<std::string>();
      INFO(key);
      const auto same = spans.find(key);
      REQUIRE(same != spans.end());
      if (!base) base = same->second.first - begin;
      CHECK(same->second.first - *base == begin);
      CHECK(same->second.second - same->second.first == row[i + 2].get<std::int64_t>());
      spans.erase(same);
    }
  }
  CHECK(spans.empty());
  CHECK(found > 100);
  CHECK(data["limits"] == "");

  const json report = only_object(trace_tool(folder, {"stats", trace, "--json"}));
  REQUIRE(kind["memory"].size() == 4);
  for (const json& memory : kind["memory"]) {
    std::vector<std::int64_t> sum(memory["times"].size(), 0);
    for (const json& one : memory["classes"]) {
      std::int64_t value = 0;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += value += one["values"][i].get<std::int64_t>();
    }
    CHECK(*std::max_element(sum.begin(), sum.end()) ==
          report["memory"][memory["rank"].get<std::size_t>()]["peak"].get<std::int64_t>());
  }
}

TEST_CASE("a page loads no other files, and contains no text that could end its script") {
  const Folder folder;
  const std::string text = content_of(exported(folder, recording(folder, 3)));
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "<link"}) {
    INFO(outside);
    CHECK(text.find(outside) == std::string::npos);
  }
  CHECK(text.find("default-src 'none'") != std::string::npos);
  CHECK(text.find("@PAGE_") == std::string::npos);
}

TEST_CASE("a page shows the last steps of a long recording, and says so") {
  const Folder folder;
  const std::string trace = recording(folder, 120);
  const json data = data_in(exported(folder, trace));
  const json& kind = data["kinds"][0];
  REQUIRE(kind["all_steps"] == 120);
  REQUIRE(kind["steps"].size() < 120);
  CHECK(kind["steps"].back()["step"] == 119);
  CHECK(kind["spans"].get<int>() <= 20'000);
  CHECK(kind["spans"].get<int>() > 15'000);
  const std::string limits = data["limits"];
  CHECK(limits.find("The recording has 120 steps; this page shows the last " + std::to_string(kind["steps"].size())) ==
        0);
}

TEST_CASE("the page of a recorded prediction says that nothing ran") {
  const Folder folder;
  const std::string trace = (folder / "predicted.mcap").string();
  REQUIRE(engine(folder, {"simulate", lab("pipeline-gpipe"), "--record", trace}).status == 0);
  const json data = data_in(exported(folder, trace));
  REQUIRE(data["kinds"].size() == 1);
  CHECK(data["kinds"][0]["obtained"] == "simulated");
  CHECK(data["kinds"][0]["words"].get<std::string>().find("simulated") == 0);
  CHECK(data["about"].get<std::string>().find("nothing ran") != std::string::npos);
  CHECK(data["lesson"].get<std::string>().find("<h2>") != std::string::npos);  // the lab's own text
}

TEST_CASE("a recorded prediction of thousands of ranks has the shares of its report") {
  const Folder folder;
  const std::string trace = (folder / "predicted.mcap").string();
  REQUIRE(engine(folder, {"simulate", "gpt3-175b", "--record", trace}).status == 0);
  const json data = data_in(exported(folder, trace));
  const json report = only_object(trace_tool(folder, {"stats", trace, "--json"}));
  REQUIRE(report["folded"] == true);
  const json& step = data["kinds"][0]["steps"][0];
  CHECK(step["workers"] == report["ranks"]);
  CHECK(step["bubble"] == report["bubble"]["predicted"]);
  CHECK(figure_of(data, "bubble-predicted") == percent(report["bubble"]["predicted"]));
  CHECK(data["about"].get<std::string>().find("one rank of a stage") != std::string::npos);
}

TEST_CASE("a browser opens the page from disk, and shows the report's bubble and the op that a link names") {
  const std::string program = browser();
  if (program.empty()) {
    not_judged("a page in a browser: none of chromium, chromium-browser and google-chrome is in PATH");
    return;
  }
  const Folder folder;
  const std::string trace = recording(folder, 6), page = exported(folder, trace);
  const json report = only_object(trace_tool(folder, {"stats", trace, "--json"}));
  const std::string dom = dom_of(folder, program, "file://" + page + "#step=3&rank=2&op=RECV.pipeline_forward:c2:m1");
  CHECK(dom.find("<output id=\"bubble\">" + percent(report["bubble"]["measured"]) + "</output>") != std::string::npos);
  for (const std::uint32_t step : {0u, 3u, 5u})
    CHECK(dom.find("data-step=\"" + std::to_string(step) + "\"") != std::string::npos);
  const std::size_t drawn = dom.find("data-drawn=\"");
  REQUIRE(drawn != std::string::npos);
  CHECK(std::stoi(dom.substr(drawn + 12)) > 50);  // boxes of step 3
  CHECK(dom.find("RECV.pipeline_forward:c2:m1: receive (pipeline forward) of chunk 2, micro-batch 1 on rank 2, forward "
                 "receive "
                 "lane, step 3") != std::string::npos);
}

TEST_CASE("in a browser the wheel zooms, a drag moves, keys do both, and the pointer shows an op's details") {
  const std::string program = browser();
  if (program.empty()) {
    not_judged("a page in a browser: none of chromium, chromium-browser and google-chrome is in PATH");
    return;
  }
  const Folder folder;
  const std::string page = exported(folder, recording(folder, 4));
  // A user's actions, one after the other, each after the page has drawn; the shown content is saved in its body.
  const std::string acts = R"(<script>
const canvas = document.getElementById("timeline"), box = canvas.getBoundingClientRect();
const point = (type, x, y, more) => canvas.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, ...more}));
canvas.setPointerCapture = () => {};
const tip = document.getElementById("tip"), tips = new Set();
const acts = [
  ["begin", () => {}],
  ["all", () => document.dispatchEvent(new KeyboardEvent("keydown", {key: "f"}))],
  ["zoomed", () => canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -800, clientX: box.left + 600, clientY: box.top + 10, bubbles: true, cancelable: true}))],
  ["moved", () => { point("pointerdown", 600, 10); point("pointermove", 500, 10); point("pointerup", 500, 10); }],
  ["key", () => document.dispatchEvent(new KeyboardEvent("keydown", {key: "d"}))],
  ["hovered", () => {
    for (let x = 120; x < box.width; x += 3) { point("pointermove", x, 12); if (!tip.hidden) tips.add(tip.textContent); }
  }],
];
const act = i => {
  if (i === acts.length) { document.body.dataset.tips = [...tips].join("|") + "|"; return; }
  acts[i][1]();
  setTimeout(() => { document.body.dataset[acts[i][0]] = document.body.dataset.range; act(i + 1); }, 100);
};
act(0);
</script></body>)";
  std::string text = content_of(page);
  text.replace(text.rfind("</body>"), 7, acts);
  // Without a display a browser draws few frames.
  text.insert(text.find("<body>") + 6, "<script>window.requestAnimationFrame = draw => setTimeout(draw, 16);</script>");
  const std::string dom = dom_of(folder, program, "file://" + folder.file("acts.html", text));
  const auto range_after = [&](const std::string& name) {
    const std::size_t at = dom.find("data-" + name + "=\"");
    INFO(name);
    REQUIRE(at != std::string::npos);
    std::istringstream numbers(dom.substr(at + name.size() + 7, 60));
    double from = 0, to = 0;
    numbers >> from >> to;
    return std::pair(from, to);
  };
  const auto length = [](const std::pair<double, double>& range) { return range.second - range.first; };
  const auto begin = range_after("begin"), all = range_after("all"), zoomed = range_after("zoomed"),
             moved = range_after("moved"), key = range_after("key");
  CHECK(length(all) > 2 * length(begin));  // one step of four, then all of them
  CHECK(length(zoomed) < length(all) / 2);
  CHECK(zoomed.first > all.first);
  CHECK(length(moved) == Approx(length(zoomed)).epsilon(1e-6));
  CHECK(moved.first > zoomed.first);
  CHECK(key.first > moved.first);
  // Where the pointer finds an op or idle time depends on the run: every place of the row is tested.
  const std::size_t tips = dom.find("data-tips=\"");
  REQUIRE(tips != std::string::npos);
  std::istringstream text_of_tips(dom.substr(tips + 11, dom.find('"', tips + 11) - tips - 11));
  int ops = 0;
  for (std::string words; std::getline(text_of_tips, words, '|');) {
    INFO(words);
    CHECK(words.find(" on rank 0") != std::string::npos);
    CHECK(words.find("emulated") != std::string::npos);
    ops += words.find(" lane, step ") != std::string::npos;
  }
  CHECK(ops > 0);
}
