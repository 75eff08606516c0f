// An answer as text: JSON, for files and for messages to a class. One writer and one reader for both.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/lesson/lab/question.hpp"

namespace rankscope {

/// "31.5", "\"an option\"", "[\"a\",\"b\"]", "[1,2.5,null]" (null: unknown), {"rank":2,"op":"B:c1:m3"}, {"rank":2},
/// {"level":"node","unit":3}, {"from":1,"to":2}.
std::string attempt_text(const Attempt& attempt);

/// nullopt if it is not an answer to a question of this kind. The size is not limited: callers limit untrusted input.
std::optional<Attempt> parse_attempt(std::string_view text, QuestionKind kind);

/// The kind that an answer belongs to.
QuestionKind kind_of(const Attempt& attempt);
std::optional<QuestionKind> question_kind_named(std::string_view name);

}  // namespace rankscope
