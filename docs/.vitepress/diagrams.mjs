// Mermaid diagrams become SVG while the site is built: a page loads no script for them and asks no other host.
import { renderMermaidSVG } from "beautiful-mermaid";

const COLOURS = { bg: "var(--vp-c-bg)", fg: "var(--vp-c-text-1)", accent: "var(--vp-c-brand-1)" };

/** The diagram as an element; its style sheet is in theme/style.css, because the renderer's own one loads a font from another host. */
function renderDiagram(source) {
  const svg = renderMermaidSVG(source, COLOURS).replace(/<style>[\s\S]*?<\/style>/, "");
  return `<div class="diagram" tabindex="0" v-pre>${svg}</div>\n`;
}

/** A plugin of markdown-it: fences named `mermaid` are drawn. */
export function drawDiagrams(markdown) {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) =>
    tokens[index].info.trim() === "mermaid"
      ? renderDiagram(tokens[index].content)
      : fence(tokens, index, ...rest);
}
