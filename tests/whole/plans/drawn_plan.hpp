// A random scenario file, over all keys that scenarios have; small enough that a step of it takes
// milliseconds.
#pragma once
#include <map>
#include <random>
#include <string>

namespace rankscope::test {

/// A random number generator with the same numbers on every platform.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int greatest) {
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(greatest - least + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<int>(values.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// Keys, by table and name, with their values in TOML's form.
class DrawnPlan {
 public:
  explicit DrawnPlan(Draw& draw);

  bool has(const std::string& path) const { return values_.contains(path); }
  const std::string& at(const std::string& path) const { return values_.at(path); }
  void set(const std::string& path, const std::string& value) { values_[path] = value; }
  void remove(const std::string& path) { values_.erase(path); }
  std::string to_toml() const;
  /// The key in that line of to_toml(); empty if there is none.
  std::string key_in_line(int line) const;

 private:
  void draw_model(Draw& draw);
  void draw_grid(Draw& draw);
  void draw_plan(Draw& draw);
  void draw_train(Draw& draw);
  void draw_machine(Draw& draw);
  void draw_mistake(Draw& draw);
  int number(const std::string& path, int otherwise) const;
  void word(const std::string& path, const std::string& value) { set(path, "\"" + value + "\""); }

  std::map<std::string, std::string> values_;
};

}  // namespace rankscope::test
