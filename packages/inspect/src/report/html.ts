import { parseJson } from "@countersign/core";
import type { DoctorReport } from "../doctor/report.js";
import { RULES } from "../rules/table.js";
import { PAGE_SCRIPT } from "./page-script.js";
import { PAGE_STYLE } from "./page-style.js";

/** The report as one page that needs nothing else: no server, no network, no other file. */
export function toHtml(report: DoctorReport): string {
  const titles = Object.fromEntries(report.findings.map(({ rule }) => [rule, RULES[rule].title]));
  const events = report.timeline.events.map(({ json, ...event }) =>
    json === undefined ? event : { ...event, json: indent(json) },
  );
  const shown = { ...report, timeline: { ...report.timeline, events } };
  // Inside a script element only "<" can end it; as an escape it means the same.
  const data = JSON.stringify({ report: shown, titles }).replaceAll("<", "\\u003c");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">`,
    `<title>${escapeHtml(`countersign doctor: ${report.target}`)}</title>`,
    `<style>${PAGE_STYLE}</style>`,
    "</head>",
    "<body>",
    "<header><h1>countersign doctor</h1>",
    `<p class="target">${escapeHtml(report.target)}</p>`,
    `<p class="verdict">${escapeHtml(report.verdict)}</p>`,
    '<ol class="layers" id="layers"></ol></header>',
    '<main><section><h2>Timeline</h2><div id="phases"></div><div id="timeline"></div>',
    '<div id="detail" hidden><div class="bar"><h3 id="detail-title"></h3><button id="previous">‹</button><button id="next">›</button></div>',
    '<p id="detail-rules"></p><pre id="detail-json"></pre></div></section>',
    '<section><h2>Findings</h2><div id="findings"></div></section>',
    '<section><h2>Bytes</h2><div id="bytes"></div></section>',
    '<section><h2>Connection</h2><div id="facts"></div></section></main>',
    `<script>const DATA = ${data};</script>`,
    `<script>${PAGE_SCRIPT}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

/** JSON over several lines; what was cut or never was JSON stays as it is. */
function indent(json: string): string {
  try {
    return JSON.stringify(parseJson(json), undefined, 2);
  } catch {
    return json;
  }
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
