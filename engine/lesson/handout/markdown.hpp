// Converts a lesson's Markdown for use outside the window: to HTML, without elements that only the window shows. Pure.
#pragma once
#include <string>
#include <string_view>

namespace rankscope {

/// With tables (md4c). HTML in the text is shown as it is written, and links into the window (view:NAME) are their
/// words alone.
std::string html_of(std::string_view markdown);
/// Of one line, without <p> around it.
std::string inline_html_of(std::string_view markdown);

/// & < > and quotes as HTML has them.
std::string escaped_html(std::string_view text);

/// The words of links into the window without the links.
std::string without_view_links(std::string_view markdown);
/// Without the block quotes that begin with "Answer:".
std::string without_answers(std::string_view markdown);
/// Of HTML: such quotes unfold by a click.
std::string with_folded_answers(std::string_view html);
/// Headings of the second level become those of `level`.
std::string with_heading_level(std::string_view markdown, int level);

}  // namespace rankscope
