import { escapeMarkup, writeHtmlPage } from "@countersign/core/report";
import { STYLE } from "./html-style.js";
import { timeline } from "./html-trace.js";
import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport, TargetResult } from "./report.js";

const OUTCOMES = ["exploited", "partial", "error", "unsupported", "not_exploited"] as const;

/** So many findings are shown open; with more, the list is what one needs first. */
const FEW = 5;

/**
 * The report as one page that stands alone. It contains the traces, so everything the agent sent. The page
 * has no script: text of a hostile agent is only displayed.
 */
export function writeHtml(report: SuiteReport): string {
  const { summary, entries } = report;
  const total = Math.max(1, entries.length);
  const bar = OUTCOMES.filter((outcome) => summary[outcome] > 0).map(
    (outcome) =>
      `<span class="${outcome}" style="width:${((summary[outcome] / total) * 100).toFixed(2)}%"></span>`,
  );
  const counts = OUTCOMES.map(
    (outcome) =>
      `<span class="${outcome}"><b>${summary[outcome]}</b> ${outcome.replace("_", " ")}</span>`,
  );
  const gateway =
    report.gateway === undefined ? "" : ` · through <code>${escapeMarkup(report.gateway)}</code>`;
  const body = `<h1>Red team report</h1>
<p class="soft">Target <code>${escapeMarkup(report.target)}</code>${gateway} · ${escapeMarkup(report.startedAt)} · ${entries.length} documents in ${(report.milliseconds / 1000).toFixed(1)} s${report.complete ? "" : " · <b>interrupted, not complete</b>"}</p>
${report.remarks.map((remark) => `<p class="error">${escapeMarkup(remark)}</p>`).join("")}
<div class="bar">${bar.join("")}</div>
<div class="counts">${counts.join("")}</div>
${entries.map((entry) => entryMarkup(entry, summary.exploited + summary.partial <= FEW)).join("\n")}`;
  return writeHtmlPage({ title: `Red team report: ${report.target}`, style: STYLE, body });
}

function badge(result: TargetResult): string {
  const isBlocked = result.outcome === "not_exploited" && result.stopped;
  const word = isBlocked ? "blocked" : result.outcome.replace("_", " ");
  return `<span class="badge ${isBlocked ? "blocked" : result.outcome}">${word}</span>`;
}

function entryMarkup(entry: ReportEntry, opens: boolean): string {
  const { direct, through } = entry;
  const badges = through === undefined ? badge(direct) : `${badge(direct)} → ${badge(through)}`;
  const mappings = entry.mappings.map(
    ({ id, name }) =>
      `<span class="tag" title="${escapeMarkup(name ?? "")}">${escapeMarkup(id)}</span>`,
  );
  const isOpen = opens && ["exploited", "partial"].includes(decisiveResult(entry).outcome);
  const sides =
    through === undefined
      ? side("", entry, direct)
      : `<div class="two both">${side("Direct", entry, direct)}${side("Through the gateway", entry, through)}</div>`;
  return `<details class="doc" id="${escapeMarkup(entry.id)}"${isOpen ? " open" : ""}><summary><code>${escapeMarkup(entry.id)}</code><span class="title">${escapeMarkup(entry.title)}</span><span class="tag">${escapeMarkup(entry.severity)}</span>${badges}</summary>
<div class="body"><p>${escapeMarkup(entry.description ?? "")}</p><p>${mappings.join("")}</p>${sides}</div></details>`;
}

function side(title: string, entry: ReportEntry, result: TargetResult): string {
  const reason = result.reason === undefined ? "" : `<p>${escapeMarkup(result.reason)}</p>`;
  const receipts =
    result.receipts.length === 0
      ? ""
      : `<p>Receipts: ${result.receipts.map((id) => `<code>${escapeMarkup(id)}</code>`).join(", ")}</p>`;
  const refused = new Set(result.refusals.map(({ code }) => code));
  const objections = (result.objections ?? [])
    .filter((name) => !refused.has(name))
    .map((name) => `<code>${escapeMarkup(name)}</code>`);
  const named = objections.length === 0 ? "" : `<p>Blocked by: ${objections.join(", ")}</p>`;
  const refusals = result.refusals.map(
    ({ status, code }) => `<p>Refused: ${status} ${escapeMarkup(code ?? "")}</p>`,
  );
  const indicators = result.indicators.map(({ indicator_id: id, result: answer, evidence }) => {
    const tone =
      answer === "matched" ? "exploited" : answer === "error" ? "error" : "not_exploited";
    return `<li><span class="badge ${tone}">${answer.replace("_", " ")}</span> <code>${escapeMarkup(id)}</code> ${escapeMarkup(entry.looksFor[id] ?? "")}<br><span class="soft mono">${escapeMarkup(evidence ?? "")}</span></li>`;
  });
  const heading = title === "" ? "" : `<h2>${title}</h2>`;
  return `<section>${heading}${reason}${refusals.join("")}${named}${receipts}<h2>Indicators</h2><ul class="plain">${indicators.join("")}</ul><h2>Timeline</h2>${timeline(result)}</section>`;
}
