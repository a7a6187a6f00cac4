/** Distinguishable colours on white and on near-black. */
const LIGHT = [
  "#6e7781",
  "#0969da",
  "#1a7f37",
  "#bf8700",
  "#cf222e",
  "#8250df",
  "#0e8a8a",
  "#b0408f",
];
const DARK = [
  "#8d96a0",
  "#4493f8",
  "#3fb950",
  "#d29922",
  "#ff7b72",
  "#ab7df8",
  "#39c5cf",
  "#f778ba",
];

const STYLE = `
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.quiet { fill: #59636e; font-size: 12px; }
.paper { fill: #ffffff; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.whisker { stroke: #1f2328; stroke-width: 1.5; }
.aim { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 5 4; }
${LIGHT.map((colour, index) => `.f${index} { fill: ${colour}; } .s${index} { stroke: ${colour}; }`).join("\n")}
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.quiet { fill: #9198a1; }
.paper { fill: #0d1117; }
.grid { stroke: #3d444d; }
.whisker, .aim { stroke: #f0f6fc; }
${DARK.map((colour, index) => `.f${index} { fill: ${colour}; } .s${index} { stroke: ${colour}; }`).join("\n")}
}`;

/** Bars skip grey, which is the direct connection. */
export const FIRST_COLOUR = 1;

/** Makes text safe inside an element. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A text element; `kind` is one of the style's classes. */
export function label(
  x: number,
  y: number,
  text: string,
  options: { anchor?: "start" | "middle" | "end"; kind?: string; turn?: number } = {},
): string {
  const { anchor = "start", kind, turn } = options;
  const extra =
    (kind === undefined ? "" : ` class="${kind}"`) +
    (turn === undefined ? "" : ` transform="rotate(${turn} ${x} ${y})"`);
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}"${extra}>${escapeText(text)}</text>`;
}

/** A straight line. */
export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" class="${kind}"/>`;
}

/** Colour patches with names, from left to right. */
export function legend(x: number, y: number, names: readonly string[]): string {
  let at = x;
  return names
    .map((name, index) => {
      const patch = `<rect x="${fixed(at)}" y="${y - 10}" width="12" height="12" rx="2" class="f${index + FIRST_COLOUR}"/>`;
      const text = label(at + 18, y, name);
      at += 18 + name.length * 7.2 + 16;
      return patch + text;
    })
    .join("\n");
}

/** The whole picture, readable on light and on dark pages. */
export function drawing(
  width: number,
  height: number,
  title: string,
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeText(title).replaceAll('"', "&quot;")}">
<style>${STYLE}
</style>
<rect width="${width}" height="${height}" class="paper"/>
${label(20, 30, title, { kind: "title" })}
${parts.join("\n")}
</svg>
`;
}

/** One decimal is precise enough, and keeps the files small. */
export function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A number with three significant digits. */
export function readable(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/** Round numbers from 0 up to at least `most`, about five of them. */
export function ticksTo(most: number): number[] {
  const rough = (most > 0 ? most : 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((by) => by * power).find((by) => by >= rough) ?? rough;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}
