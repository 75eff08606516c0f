// Converts a lesson's Markdown for use outside the window: to HTML, without elements that only the window shows. Pure.
#pragma once
#include <string>
#include <string_view>

namespace rankscope {

/// With tables (md4c). HTML in the text is shown as literal text, and links into the window (view:NAME) are replaced by
/// their text.
std::string html_of(std::string_view markdown);
/// Of one line, without <p> around it.
std::string inline_html_of(std::string_view markdown);

/// Escapes & < > and quotes for HTML.
std::string escaped_html(std::string_view text);

/// Replaces links into the window by their text.
std::string without_view_links(std::string_view markdown);
/// Removes the block quotes that begin with "Answer:", in any language.
std::string without_answers(std::string_view markdown);
/// In HTML: such quotes unfold with a click.
std::string with_folded_answers(std::string_view html);
/// Headings of the second level are changed to `level`.
std::string with_heading_level(std::string_view markdown, int level);

}  // namespace rankscope
