// The glossary: every term and symbol that lessons and labels use, with its definition and source. It is read only from
// scenarios/glossary.toml.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct Term {
  std::string name;               ///< "micro-batch"
  std::vector<std::string> also;  ///< other forms of it: "micro-batches"
  std::string symbol;             ///< "m", case-sensitive; empty: it has none
  std::string means;              ///< the definition: one or two sentences
  std::string source;             ///< a paper or a book; empty: common use
  std::string see;                ///< name of the lab about it; empty: none
  bool operator==(const Term&) const = default;
};

class Glossary {
 public:
  Glossary() = default;
  explicit Glossary(std::vector<Term> terms) : terms_(std::move(terms)) {}
  const std::vector<Term>& terms() const { return terms_; }
  /// By its name or another form of it, ignoring letter case, or by its exact symbol; null if there is none.
  const Term* find(std::string_view word) const;

 private:
  std::vector<Term> terms_;
};

/// Throws ScenarioError with position; also if two terms share a name or symbol.
Glossary parse_glossary(const std::string& text, const std::string& name);
/// The installed one; empty if there is none. `language`: with its definitions in that language, if any.
Glossary read_glossary(const std::string& language = {});

}  // namespace rankscope
