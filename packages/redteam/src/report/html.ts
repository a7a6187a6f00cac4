import { escapeMarkup, writeHtmlPage } from "@countersign/core/report";
import { entryMarkup } from "./html-entry.js";
import { SCRIPT } from "./html-script.js";
import { STYLE } from "./html-style.js";
import { countBySeverity, groupEntries, SEVERITIES, VERDICTS, verdictWord } from "./order.js";
import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport, TargetResult } from "./report.js";

/** So many findings are shown open; with more, the list is what one needs first. */
const FEW = 5;

/** How a page is written. */
export type HtmlOptions = {
  /** The address of the gateway's console: receipts become links to it. */
  readonly console?: string;
};

/**
 * The report as one page that stands alone. It contains the traces, so everything the agent sent. The page runs one
 * script, which filters the list; text of a hostile agent is only displayed.
 */
export function writeHtml(report: SuiteReport, options: HtmlOptions = {}): string {
  const { entries } = report;
  const groups = groupEntries(entries);
  const opens = (groups[0]?.entries.length ?? 0) <= FEW;
  const anchors = anchorsOf(entries);
  const sections = groups.map((group, index) => {
    if (index > 0 && group.entries.length === 0) return "";
    const cards = group.entries.map((entry) =>
      entryMarkup(entry, {
        anchor: anchors.get(entry) ?? "",
        isOpen: index === 0 && opens,
        console: options.console,
      }),
    );
    const list = cards.length === 0 ? '<p class="soft">No attack succeeded.</p>' : cards.join("\n");
    return `<section class="group"><h2>${group.title} <span class="count">${cards.length}</span></h2>${list}</section>`;
  });
  const gateway =
    report.gateway === undefined ? "" : ` · through <code>${escapeMarkup(report.gateway)}</code>`;
  const body = `<main><h1>Red team report</h1>
<p class="soft">Target <code>${escapeMarkup(report.target)}</code>${gateway} · ${escapeMarkup(report.startedAt)} · ${entries.length} documents in ${(report.milliseconds / 1000).toFixed(1)} s${report.complete ? "" : " · <b>interrupted, not complete</b>"}</p>
${report.remarks.map((remark) => `<p class="remark">${escapeMarkup(remark)}</p>`).join("")}
${summaryMarkup(report)}
${filtersMarkup(entries)}
${sections.join("\n")}</main>`;
  const title = `Red team report: ${report.target}`;
  return writeHtmlPage({ title, style: STYLE, body, scripts: [SCRIPT] });
}

/** The id of each entry in the page; documents may share an id. */
function anchorsOf(entries: readonly ReportEntry[]): Map<ReportEntry, string> {
  const used = new Set<string>();
  return new Map(
    entries.map((entry, index) => {
      const id = used.has(entry.id) ? `${entry.id}-${index}` : entry.id;
      used.add(id);
      return [entry, id];
    }),
  );
}

function summaryMarkup({ entries, gateway }: SuiteReport): string {
  const ways: [string, (entry: ReportEntry) => TargetResult | undefined][] =
    gateway === undefined
      ? [["Verdicts by severity", ({ direct }) => direct]]
      : [
          ["Through the gateway", decisiveResult],
          ["Direct", ({ direct }) => direct],
        ];
  const words = [...VERDICTS.keys()];
  const tables = ways.map(([title, pick]) => {
    const rows = countBySeverity(entries, pick);
    const totals = words.map((_, at) =>
      rows.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0),
    );
    const cells = (counts: readonly number[]): string =>
      counts
        .map((count, at) =>
          count === 0 ? '<td class="zero">0</td>' : `<td class="${words[at] ?? ""}">${count}</td>`,
        )
        .join("");
    return `<div><h3>${title}</h3>${barMarkup(totals)}
<table><caption class="only-read">${title}: verdicts by severity</caption><thead><tr><th scope="col">severity</th>${words.map((word) => `<th scope="col"><span>${word}</span></th>`).join("")}</tr></thead>
<tbody>${rows.map(({ severity, counts }) => `<tr><th scope="row">${escapeMarkup(severity)}</th>${cells(counts)}</tr>`).join("")}
<tr class="total"><th scope="row">all</th>${cells(totals)}</tr></tbody></table></div>`;
  });
  const meanings = [...VERDICTS].map(
    ([word, meaning]) =>
      `<div><dt><span class="badge ${word}">${word}</span></dt><dd>${meaning}</dd></div>`,
  );
  return `<section><h2>Summary</h2><div class="two both">${tables.join("")}</div>
<details class="legend"><summary>Legend: what the verdicts and marks mean</summary><dl>${meanings.join("")}
<div><dt><mark>marked text</mark></dt><dd>The evidence: the part of a message that an indicator matched.</dd></div>
<div><dt class="mono">→ ←</dt><dd>A message to the target, a message from the target. A green dot: the message names a receipt of the gateway.</dd></div></dl></details></section>`;
}

/** The share of each verdict; the table next to it has the numbers. */
function barMarkup(totals: readonly number[]): string {
  const sum = Math.max(
    1,
    totals.reduce((one, other) => one + other, 0),
  );
  let left = 0;
  const parts = [...VERDICTS.keys()].map((word, at) => {
    const width = ((totals[at] ?? 0) / sum) * 100;
    const part = `<rect class="${word}" x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="4"/>`;
    left += width;
    return width === 0 ? "" : part;
  });
  return `<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts.join("")}</svg>`;
}

/** The form stays hidden where no script runs. */
function filtersMarkup(entries: readonly ReportEntry[]): string {
  const found = new Set(entries.map((entry) => verdictWord(decisiveResult(entry))));
  const severities = new Set(entries.map(({ severity }) => severity));
  const choices = (name: string, values: readonly string[]): string =>
    values
      .map(
        (value) =>
          `<label><input type="checkbox" name="${name}" value="${escapeMarkup(value)}" checked> ${escapeMarkup(value)}</label>`,
      )
      .join("");
  const named = [...SEVERITIES, ...severities].filter((one) => severities.has(one));
  return `<form id="filters" role="search" aria-label="Documents" hidden>
<label class="search">Search <input type="search" id="search" aria-describedby="keys" autocomplete="off"></label>
<fieldset><legend>Verdict</legend>${choices(
    "verdict",
    [...VERDICTS.keys()].filter((word) => found.has(word)),
  )}</fieldset>
<fieldset><legend>Severity</legend>${choices("severity", [...new Set(named)])}</fieldset>
<p class="buttons"><button type="reset">Reset filters</button><button type="button" id="open-all">Open all</button><button type="button" id="close-all">Close all</button></p>
<p class="soft"><span id="shown" role="status"></span> <span id="keys">Every word of the search must occur in a document or its messages. Press / to search, Escape to clear.</span></p></form>`;
}
