import { LAYER_NAMES } from "./rule.js";
import type { Example, Rule } from "./rule.js";
import { rulePage, RULES } from "./table.js";
import type { RuleId } from "./table.js";

const LONGEST_LINE = 160;

/** The pages of `docs/rules/`, by file name: one for each rule, and an index. */
export function rulePages(): Map<string, string> {
  const pages = new Map<string, string>();
  const ids = Object.keys(RULES) as RuleId[];
  pages.set("README.md", index(ids));
  for (const id of ids) pages.set(rulePage(id).slice("rules/".length), page(id, RULES[id]));
  return pages;
}

function page(id: RuleId, rule: Rule): string {
  const lines = [
    `# ${id}`,
    "",
    `**${rule.title}**`,
    "",
    `Layer ${rule.layer} (${LAYER_NAMES[rule.layer]}), ${rule.severity}.`,
    "",
    "## Violation",
    "",
    rule.what,
    "",
    "## Why it matters",
    "",
    rule.why,
    "",
    "## Example",
    "",
    "```text",
    ...exampleLines(rule.example),
    "```",
    "",
    "## Fix",
    "",
    rule.fix,
    "",
  ];
  return lines.join("\n");
}

function exampleLines(example: Example): string[] {
  if ("text" in example) return [example.text];
  if ("sse" in example) {
    return example.sse
      .replaceAll("\r", "␍")
      .replaceAll("\ufeff", "<BOM>")
      .trimEnd()
      .split("\n")
      .map(shorten);
  }
  return example.events.map((event) => shorten(JSON.stringify(event)));
}

function shorten(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}

function index(ids: readonly RuleId[]): string {
  const lines = [
    "# Rules of the doctor",
    "",
    "This page lists the rules of `countersign doctor`, layer by layer. Each links to a page with the violation, why it",
    "matters, an example and the fix. [Rules](../policy/rules.md) explains `gateway/…` on a receipt. The pages are generated",
    "from the table that the code uses (`npm run generate:rules -w packages/inspect`); a test fails if they differ.",
  ];
  for (const layer of [1, 2, 3] as const) {
    const rows = ids
      .filter((id) => RULES[id].layer === layer)
      .map((id) => [
        `[${id}](${rulePage(id).slice("rules/".length)})`,
        RULES[id].severity,
        RULES[id].title,
      ]);
    lines.push(
      "",
      `## Layer ${layer}: ${LAYER_NAMES[layer]}`,
      "",
      ...table(["rule", "severity", "title"], rows),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Padded as the formatter writes tables, so that generated pages pass its check. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
