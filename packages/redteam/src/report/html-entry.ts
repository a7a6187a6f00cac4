import { escapeMarkup } from "@countersign/core/report";
import { MOST_ROWS, timeline } from "./html-trace.js";
import { fixOf, verdictWord } from "./order.js";
import { decisiveResult } from "./report.js";
import type { ReportEntry, TargetResult } from "./report.js";

/** Position and form of an entry in the page. */
export type EntryPlace = {
  /** Its id in the page. */
  readonly anchor: string;
  readonly isOpen: boolean;
  /** The address of the gateway's console. */
  readonly console: string | undefined;
};

/** One document: its verdicts, what closes it, and the messages both ways next to each other. */
export function entryMarkup(entry: ReportEntry, place: EntryPlace): string {
  const { direct, through } = entry;
  const badges = through === undefined ? badge(direct) : `${badge(direct)} → ${badge(through)}`;
  const mappings = entry.mappings.map(
    ({ id, name }) =>
      `<span class="tag" title="${escapeMarkup(name ?? "")}">${escapeMarkup(id)}</span>`,
  );
  const sides =
    through === undefined
      ? side("Direct", entry, direct, { ...place, anchor: `${place.anchor}-direct` })
      : `<div class="two both">${side("Direct", entry, direct, { ...place, anchor: `${place.anchor}-direct` })}${side("Through the gateway", entry, through, { ...place, anchor: `${place.anchor}-through` })}</div>`;
  const word = verdictWord(decisiveResult(entry));
  return `<details class="doc" id="${escapeMarkup(place.anchor)}" data-verdict="${word}" data-severity="${escapeMarkup(entry.severity)}"${place.isOpen ? " open" : ""}><summary><code>${escapeMarkup(entry.id)}</code><span class="title">${escapeMarkup(entry.title)}</span><span class="tag">${escapeMarkup(entry.severity)}</span><span class="verdicts">${badges}</span></summary>
<div class="body"><div class="two about"><div><p>${escapeMarkup(entry.description ?? "")}</p><p>${mappings.join("")}</p></div>${closing(entry)}</div>${sides}</div></details>`;
}

function badge(result: TargetResult): string {
  const word = verdictWord(result);
  return `<span class="badge ${word}">${word}</span>`;
}

/** The rule that stopped an attack, otherwise its fix. An attack that every target resisted has none. */
function closing(entry: ReportEntry): string {
  const { direct, through } = entry;
  const word = verdictWord(decisiveResult(entry));
  const gaveIn = [direct, through].some((one) =>
    ["exploited", "partial"].includes(one?.outcome ?? ""),
  );
  if (!gaveIn) return "";
  const rules = (decisiveResult(entry).objections ?? []).map(
    (name) => `<code>${escapeMarkup(name)}</code>`,
  );
  const by =
    word !== "blocked"
      ? ""
      : `<p>Closed by the gateway${rules.length === 0 ? ", which withheld the result" : `: ${rules.join(", ")}`}.</p>`;
  const fix = escapeMarkup(fixOf(entry)).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
  const parts = fix.split(/(?=\b(?:Agent|Page): )/).map((part) => `<p>${part.trim()}</p>`);
  return `<div class="fix ${word}"><h3>What closes it</h3>${by}${parts.join("")}</div>`;
}

function side(title: string, entry: ReportEntry, result: TargetResult, place: EntryPlace): string {
  const reason =
    result.reason === undefined
      ? ""
      : `<p class="reason"><b>Not complete:</b> ${escapeMarkup(result.reason)}</p>`;
  const refused = new Set(result.refusals.map(({ code }) => code));
  const objections = (result.objections ?? [])
    .filter((name) => !refused.has(name))
    .map((name) => `<code>${escapeMarkup(name)}</code>`);
  const named = objections.length === 0 ? "" : `<p>Blocked by: ${objections.join(", ")}</p>`;
  const refusals = result.refusals.map(
    ({ status, code }) => `<p>Rejected: ${status} ${escapeMarkup(code ?? "")}</p>`,
  );
  const indicators = result.indicators.map(({ indicator_id: id, result: answer, evidence }) => {
    const tone =
      answer === "matched" ? "exploited" : answer === "not_matched" ? "resisted" : "error";
    return `<li><span class="badge ${tone}">${answer.replace("_", " ")}</span> <code>${escapeMarkup(id)}</code> ${escapeMarkup(entry.looksFor[id] ?? "")}<br><span class="soft mono">${escapeMarkup(evidence ?? "")}</span></li>`;
  });
  const found =
    indicators.length === 0
      ? '<p class="soft">No indicator was evaluated.</p>'
      : `<ul class="plain">${indicators.join("")}</ul>`;
  return `<section><h3>${title} ${badge(result)}</h3>${reason}${refusals.join("")}${named}${receiptsMarkup(result, place)}<h4>Indicators</h4>${found}<h4>Messages</h4>${timeline(result, place.anchor)}</section>`;
}

/** Each receipt leads to the message that names it, and with a console to the signed receipt. */
function receiptsMarkup({ receipts, trace = [] }: TargetResult, place: EntryPlace): string {
  if (receipts.length === 0) return "";
  const links = receipts.map((id) => {
    const row = trace
      .slice(0, MOST_ROWS)
      .find(({ content }) => JSON.stringify(content).includes(id));
    const text = `<code>${escapeMarkup(id)}</code>`;
    const anchor = escapeMarkup(`#${place.anchor}-${row?.seq ?? 0}`);
    const message = row === undefined ? text : `<a href="${anchor}">${text}</a>`;
    if (place.console === undefined) return message;
    const page = `${place.console.replace(/\/?(?:#.*)?$/, "/")}#/receipts?id=${encodeURIComponent(id)}`;
    return `${message} (<a href="${escapeMarkup(page)}" rel="noreferrer">open in the console</a>)`;
  });
  return `<p>Receipts: ${links.join(", ")}</p>`;
}
