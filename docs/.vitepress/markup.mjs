// Pages are Markdown, not templates: text that looks like a Vue template or like an unknown element is shown as it is written.
const ELEMENTS =
  /^<\/?(?:a|br|picture|source|img|details|summary|kbd|sup)\b|^<!--|^&ZeroWidthSpace;$/;

/** A plugin of markdown-it: only the elements that the pages use stay HTML, and double braces stay braces. */
export function showAsWritten(markdown) {
  const { escapeHtml } = markdown.utils;
  const asText = (tokens, index) => {
    const { content } = tokens[index];
    return ELEMENTS.test(content.trimStart()) ? content : escapeHtml(content);
  };
  markdown.renderer.rules.html_inline = asText;
  markdown.renderer.rules.html_block = asText;
  const escapeBraces = (text) => escapeHtml(text).replaceAll("{{", "&#123;&#123;");
  markdown.renderer.rules.text = (tokens, index) => escapeBraces(tokens[index].content);
  markdown.renderer.rules.code_inline = (tokens, index) =>
    `<code v-pre>${escapeBraces(tokens[index].content)}</code>`;
}
