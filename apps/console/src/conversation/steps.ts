import type { AgUiEvent } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import type { RunView } from "@countersign/wire/reduce";
import type { Entry } from "../api/responses.js";
import { verdictOfEntry } from "../api/verdict.js";
import type { Verdict } from "../api/verdict.js";
import { laneOf } from "../timeline/lanes.js";
import { clicksIn } from "./clicks.js";
import type { Click } from "./clicks.js";

/** Payloads of a run that the gateway kept, by entry. */
export type Payloads = ReadonlyMap<number, unknown>;

/** One thing that happened in a conversation: a request, a message, a call, a change. */
export type Step = {
  readonly kind: "request" | "text" | "tools" | "state" | "activity" | "lifecycle";
  readonly verdict: Verdict;
  /** The tool or the kind of event. */
  readonly name: string;
  /** The path or the component, if the log has it. */
  readonly place: string;
  readonly rule: string | undefined;
  readonly entries: readonly Entry[];
  /** The content, if its payload was kept; always text. */
  readonly text: string | undefined;
  /** What the person pressed, of a request. */
  readonly clicks: readonly Click[];
};

type Draft = { -readonly [Key in keyof Step]: Step[Key] } & {
  id: string | undefined;
  entries: Entry[];
  withheld: string[];
};

/** Steps of a run in order. Delivered events go through the reducer, so that a step reads as the person saw it. */
export function stepsOf(entries: readonly Entry[], payloads: Payloads): Step[] {
  const reducer = createReducer();
  const isDelivered = deliveredIn(entries);
  let isReducing = true;
  const drafts: Draft[] = [];
  const open = new Map<string, Draft>();
  for (const entry of entries) {
    const payload = objectOf(payloads.get(entry.seq));
    if (isReducing && payload !== undefined && isDelivered(entry)) {
      try {
        reducer.push(payload as AgUiEvent);
      } catch {
        // Over a limit of the reducer: the steps stay, without more text.
        isReducing = false;
      }
    }
    const draft = draftOf(entry, payload, drafts.at(-1), open);
    draft.entries.push(entry);
    if (entry.direction === "inbound") draft.clicks = clicksIn(payload);
    if (payload !== undefined && (!entry.receipt.allowed || entry.direction === "inbound")) {
      draft.withheld.push(entry.direction === "inbound" ? requestText(payload) : partOf(payload));
    }
    if (drafts.at(-1) !== draft && !drafts.includes(draft)) drafts.push(draft);
  }
  const view = reducer.snapshot();
  return drafts.map(({ id, withheld, ...step }) => ({
    ...step,
    text: withheld.length > 0 ? withheld.join("") : id === undefined ? undefined : textIn(view, id),
  }));
}

/** The `event_id` of a delivered event whose client asked for receipts. */
const STREAM_ID = /^evt_[^.]*\.\d+$/u;

/**
 * Tells the events that the client received. A client that asked for receipts has one for each of them, with an id of
 * its stream; another receipt of the run is then about the form before a part was withheld.
 */
export function deliveredIn(entries: readonly Entry[]): (entry: Entry) => boolean {
  const isOfStream = ({ receipt }: Entry): boolean => STREAM_ID.test(receipt.event_id);
  const hasStream = entries.some(isOfStream);
  return (entry) =>
    entry.direction === "outbound" && entry.receipt.allowed && (!hasStream || isOfStream(entry));
}

/** The step of an entry: that of its message or call, or else of the entry before if it is about the same. */
function draftOf(
  entry: Entry,
  payload: Payload | undefined,
  last: Draft | undefined,
  open: Map<string, Draft>,
): Draft {
  const verdict = verdictOfEntry(entry);
  const kind = laneOf(entry);
  const name = entry.tool ?? nameOf(entry);
  const place = entry.path ?? targetOf(entry);
  const id = idOf(payload);
  const key = id === undefined ? undefined : `${id} ${verdict} ${entry.rule ?? ""}`;
  const known = key === undefined ? undefined : open.get(key);
  if (known !== undefined) return known;
  const isSame =
    last !== undefined &&
    id === undefined &&
    last.id === undefined &&
    last.kind === kind &&
    last.verdict === verdict &&
    last.rule === entry.rule &&
    last.place === place &&
    (last.name === name || kind === "text") &&
    kind !== "request" &&
    kind !== "lifecycle";
  if (isSame) return last;
  const draft: Draft = {
    kind,
    verdict,
    name,
    place,
    rule: entry.rule,
    entries: [],
    text: undefined,
    clicks: [],
    id,
    withheld: [],
  };
  if (key !== undefined) open.set(key, draft);
  return draft;
}

type Payload = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Payload | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Payload)
    : undefined;
}

function idOf(payload: Payload | undefined): string | undefined {
  const id = payload?.["toolCallId"] ?? payload?.["messageId"];
  return typeof id === "string" ? id : undefined;
}

function nameOf({ receipt: { event_type: type } }: Entry): string {
  return typeof type === "string" ? type : type.custom;
}

function targetOf({ receipt: { target } }: Entry): string {
  if (target === undefined) return "";
  return target.component_id === undefined
    ? target.component_type
    : `${target.component_type}:${target.component_id}`;
}

/** The part of a text or of arguments; another event as JSON. */
function partOf(payload: Payload): string {
  if (typeof payload["delta"] === "string") return payload["delta"];
  // The head of the step has the name of the tool.
  const { type: _, messageId: __, toolCallId: ___, toolCallName: ____, ...rest } = payload;
  return Object.keys(rest).length === 0 ? "" : `${JSON.stringify(rest, undefined, 2)}\n`;
}

/** What the person wrote last; a picture or a file as its kind. A click repeats the messages before it. */
function requestText(payload: Payload): string {
  const messages = Array.isArray(payload["messages"]) ? payload["messages"].map(objectOf) : [];
  if (messages.at(-1)?.["role"] !== "user" && clicksIn(payload).length > 0) return "";
  const content = messages.findLast((message) => message?.["role"] === "user")?.["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map(objectOf)
    .map((part) =>
      typeof part?.["text"] === "string" ? part["text"] : `[${String(part?.["type"] ?? "part")}]`,
    )
    .join("\n");
}

function textIn(view: RunView, id: string): string | undefined {
  for (const message of view.messages) {
    if (message.role === "assistant") {
      const call = message.toolCalls?.find((one) => one.id === id);
      if (call !== undefined) return call.function.arguments;
    }
    if (message.id === id) {
      return typeof message.content === "string"
        ? message.content
        : JSON.stringify(message.content, undefined, 2);
    }
  }
  return undefined;
}
