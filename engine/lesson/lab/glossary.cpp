#include "engine/lesson/lab/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/lesson/lab/fields.hpp"
#include "engine/lesson/lab/translation.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

Glossary glossary_of(const document::Table& root, const std::string& name) {
  Fields fields(root, "the glossary");
  std::vector<Term> terms;
  std::set<std::string> names, symbols;
  for (const auto& [table, at] : fields.tables("term")) {
    Fields own(*table, "[[term]]");
    Term term;
    term.name = own.text("name", at, true);
    term.also = own.texts("also");
    term.symbol = own.text("symbol", at, false);
    term.means = own.text("means", at, true);
    term.source = own.text("source", at, false);
    term.see = own.text("see", at, false);
    own.refuse_others();
    std::vector<std::string> forms = term.also;
    forms.push_back(term.name);
    for (const std::string& form : forms)
      if (!names.insert(lowered(form)).second)
        document::refuse(at, fmt::format("'{}' is defined twice; keep one of the two", form));
    if (!term.symbol.empty() && !symbols.insert(term.symbol).second)
      document::refuse(at, fmt::format("the symbol '{}' is defined twice; keep one of the two", term.symbol));
    terms.push_back(std::move(term));
  }
  fields.refuse_others();
  if (terms.empty()) document::refuse(name + ":1:1", "a glossary without terms; write [[term]] with name and means");
  return Glossary(std::move(terms));
}

}  // namespace

const Term* Glossary::find(std::string_view word) const {
  for (const Term& term : terms_)
    if (!term.symbol.empty() && term.symbol == word) return &term;
  const std::string requested = lowered(word);
  for (const Term& term : terms_)
    if (lowered(term.name) == requested ||
        std::ranges::any_of(term.also, [&](const std::string& form) { return lowered(form) == requested; }))
      return &term;
  return nullptr;
}

Glossary parse_glossary(const std::string& text, const std::string& name) {
  return glossary_of(document::parse(text, name), name);
}

Glossary read_glossary(const std::string& language) {
  for (const auto& folder : resource_folders()) {
    const auto file = folder / "glossary.toml";
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error))
      return in_language(glossary_of(document::parse_file(file.string()), file.string()), language, folder.string());
  }
  return {};
}

}  // namespace rankscope
