import { pageAddress, parseJson } from "@countersign/core";
import { escapeMarkup, writeHtmlPage } from "@countersign/core/report";
import type { DoctorReport } from "../doctor/report.js";
import { rulePage, RULES } from "../rules/table.js";
import { PAGE_SCRIPT } from "./page-script.js";
import { PAGE_STYLE } from "./page-style.js";

/** The report as one page that needs nothing else: no server, no network, no other file. */
export function toHtml(report: DoctorReport): string {
  const titles = Object.fromEntries(report.findings.map(({ rule }) => [rule, RULES[rule].title]));
  const pages = Object.fromEntries(
    report.findings.map(({ rule }) => [rule, pageAddress(rulePage(rule))]),
  );
  const events = report.timeline.events.map(({ json, ...event }) =>
    json === undefined ? event : { ...event, json: indent(json) },
  );
  const shown = { ...report, timeline: { ...report.timeline, events } };
  // Inside a script element only "<" can end it; as an escape it means the same.
  const data = JSON.stringify({ report: shown, titles, pages }).replaceAll("<", "\\u003c");
  const body = [
    "<header><h1>countersign doctor</h1>",
    `<p class="target">${escapeMarkup(report.target)}</p>`,
    `<p class="verdict">${escapeMarkup(report.verdict)}</p>`,
    '<ol class="layers" id="layers"></ol></header>',
    '<main><section><h2>Timeline</h2><div id="phases"></div><div id="timeline"></div>',
    '<div id="detail" hidden><div class="bar"><h3 id="detail-title"></h3><button id="previous">‹</button><button id="next">›</button></div>',
    '<p id="detail-rules"></p><pre id="detail-json"></pre></div></section>',
    '<section><h2>Findings</h2><div id="findings"></div></section>',
    '<section><h2>Bytes</h2><div id="bytes"></div></section>',
    '<section><h2>Connection</h2><div id="facts"></div></section></main>',
  ].join("\n");
  return writeHtmlPage({
    title: `countersign doctor: ${report.target}`,
    style: PAGE_STYLE,
    body,
    scripts: [`const DATA = ${data};`, PAGE_SCRIPT],
  });
}

/** JSON over several lines; what was cut or never was JSON stays as it is. */
function indent(json: string): string {
  try {
    return JSON.stringify(parseJson(json), undefined, 2);
  } catch {
    return json;
  }
}
