import { visible } from "@countersign/core/report";
import { countBySeverity, fixOf, groupEntries, VERDICTS, verdictWord } from "./order.js";
import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport } from "./report.js";

/** Rows of each list; build servers limit the size of a summary. */
const MOST_ROWS = 100;
const LONGEST_TEXT = 400;

/** The report as Markdown for the summary of a build: the order of the page, no text from the wire. */
export function writeMarkdown(report: SuiteReport): string {
  const words = [...VERDICTS.keys()];
  const rows = countBySeverity(report.entries, decisiveResult);
  const totals = words.map((_, at) => rows.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0));
  const [open, undecided] = groupEntries(report.entries);
  return [
    "## Red team",
    "",
    `${report.entries.length} documents against ${markdownText(report.target)}${report.gateway === undefined ? "" : ` through ${markdownText(report.gateway)}`}${report.complete ? "" : ", **interrupted, not complete**"}.`,
    "",
    ...report.remarks.flatMap((remark) => [`> ${markdownText(remark)}`, ""]),
    ...table(
      ["severity", ...words],
      [...rows, { severity: "all", counts: totals }].map(({ severity, counts }) => [
        markdownText(severity),
        ...counts.map(String),
      ]),
    ),
    ...listOf("Open findings", "closes it", open?.entries ?? [], fixOf),
    ...listOf("Not decided", "why", undecided?.entries ?? [], (entry) => {
      return decisiveResult(entry).reason ?? "";
    }),
  ].join("\n");
}

// Everything that Markdown interprets within a line, the start of an address, and mentions.
const MARKS = /[\\`*_{}[\]<>#|!~&$@+]|(?<=:)\/\/|(?<=www)\./giu;

/** Text that Markdown shows as it is: no markup, no link, no mention. Only names in backticks become code. */
function markdownText(text: string): string {
  return visible(text)
    .slice(0, LONGEST_TEXT)
    .replaceAll(/\s+/g, " ")
    .split(/(`[\w.: -]+`)/u)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(MARKS, entities)))
    .join("");
}

function entities(text: string): string {
  return [...text].map((character) => `&#${character.codePointAt(0) ?? 0};`).join("");
}

function listOf(
  title: string,
  column: string,
  entries: readonly ReportEntry[],
  describe: (entry: ReportEntry) => string,
): string[] {
  if (entries.length === 0) return [];
  const rows = entries
    .slice(0, MOST_ROWS)
    .map((entry) => [
      markdownText(entry.id),
      markdownText(entry.severity),
      verdictWord(decisiveResult(entry)),
      markdownText(entry.title),
      markdownText(describe(entry)),
    ]);
  const left = entries.length - rows.length;
  return [
    `### ${title} (${entries.length})`,
    "",
    ...table(["id", "severity", "verdict", "attack", column], rows),
    ...(left > 0 ? [`${left} more are in the report.`, ""] : []),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line), ""];
}
