import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { escapeMarkup } from "@countersign/core/report";
import type { TraceEntry } from "../oatf/index.js";
import { receiptIn } from "../runner/refusal.js";
import type { TargetResult } from "./report.js";

/** Messages after this one are shown only if an indicator matched them. */
export const MOST_ROWS = 400;
const MOST_TEXT = 4000;
const LONGEST_LEAF = 1200;
// Private-use characters around the evidence while it is still plain text; stripped from captured text.
const [BEGIN, END] = ["\u{F8FE}", "\u{F8FF}"];

/**
 * The timeline of what was sent and received; the messages that indicators matched stand out and are open. Ids of
 * rows begin with `anchor`.
 */
export function timeline(result: TargetResult, anchor: string): string {
  const trace = result.trace ?? [];
  if (trace.length === 0) return '<p class="soft">No trace was kept.</p>';
  const hits = new Map<number, string | undefined>();
  for (const { match } of result.indicators)
    if (match !== undefined) hits.set(match.seq, match.path);
  const origin = Date.parse(trace[0]?.timestamp ?? "");
  // Long deltas bury the message that matters, so hits are always among the rows.
  const shown = trace.filter(({ seq }) => seq < MOST_ROWS || hits.has(seq));
  const rows = shown.map((entry) => row(entry, origin, hits, `${anchor}-${entry.seq}`));
  const left = trace.length - shown.length;
  const more = left > 0 ? `<p class="soft">${left} more messages are not shown.</p>` : "";
  return `<ol class="trace">${rows.join("")}</ol>${more}`;
}

function row(
  entry: TraceEntry,
  origin: number,
  hits: ReadonlyMap<number, string | undefined>,
  id: string,
): string {
  const isHit = hits.has(entry.seq);
  const offset = Math.max(0, Date.parse(entry.timestamp ?? "") - origin);
  const arrow = entry.direction === "request" ? "→" : "←";
  const isStop = entry.direction === "response" && receiptIn(entry.content) !== undefined;
  const classes = `${entry.direction}${isHit ? " hit" : ""}${isStop ? " stop" : ""}`;
  const head = `${entry.seq} · ${offset} ms · ${arrow} <b>${escapeMarkup(entry.event)}</b> <span class="soft">${escapeMarkup(entry.actor)} / ${escapeMarkup(entry.phase ?? "")} ${escapeMarkup(gist(entry.content))}</span>`;
  const body = messageText(entry.content, isHit ? hits.get(entry.seq) : undefined);
  return `<li class="${classes}" id="${escapeMarkup(id)}"><details${isHit ? " open" : ""}><summary class="mono">${head}</summary><pre>${body}</pre></details></li>`;
}

/** The few fields by which one tells events apart at a glance. */
function gist(content: JsonValue): string {
  if (!isJsonObject(content)) return "";
  return ["role", "toolCallName", "name", "delta", "content", "message", "status", "code"]
    .flatMap((key) => {
      const value = Object.hasOwn(content, key) ? content[key] : undefined;
      return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
    })
    .join(" · ")
    .slice(0, 90);
}

function messageText(content: JsonValue, path: string | undefined): string {
  const marked = path === undefined ? clean(content) : markAt(clean(content), steps(path));
  const text = JSON.stringify(marked, undefined, 1);
  const from = path === undefined ? 0 : Math.max(0, text.indexOf(BEGIN) - MOST_TEXT / 2);
  const cut = `${from > 0 ? "…" : ""}${text.slice(from, from + MOST_TEXT)}${text.length > from + MOST_TEXT ? "…" : ""}`;
  const markup = escapeMarkup(cut).replaceAll(BEGIN, "<mark>").replaceAll(END, "</mark>");
  // A cut can fall inside the evidence.
  const open = markup.split("<mark>").length - markup.split("</mark>").length;
  return open > 0 ? `${markup}</mark>` : markup;
}

/** A copy with long texts cut and without the two characters that we use for ourselves. */
function clean(value: JsonValue): JsonValue {
  if (typeof value === "string") {
    const text = value.replace(/[\u{F8FE}\u{F8FF}]/gu, "\uFFFD");
    return text.length > LONGEST_LEAF ? `${text.slice(0, LONGEST_LEAF)}…` : text;
  }
  if (Array.isArray(value)) return value.map(clean);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key.replace(/[\u{F8FE}\u{F8FF}]/gu, ""),
      clean(child),
    ]),
  );
}

function steps(path: string): (string | number)[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) =>
    index === undefined ? (key ?? "") : Number(index),
  );
}

function markAt(value: JsonValue, path: readonly (string | number)[]): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) {
    return `${BEGIN}${typeof value === "string" ? value : JSON.stringify(value)}${END}`;
  }
  if (Array.isArray(value)) {
    return value.map((child, index) => (index === step ? markAt(child, rest) : child));
  }
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    copy[key] = key === step ? markAt(child, rest) : child;
  }
  return copy;
}
