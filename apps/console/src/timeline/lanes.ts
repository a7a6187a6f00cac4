import type { Entry } from "../api/responses.js";

/** The lanes of the timeline, in drawing order. */
export const LANES = ["request", "text", "tools", "state", "activity", "lifecycle"] as const;

/** A lane of the timeline. */
export type Lane = (typeof LANES)[number];

/** A receipt in its place. */
export type Placed = { readonly entry: Entry; readonly lane: Lane; readonly x: number };

/** A silence that is drawn. */
export type Gap = { readonly x: number; readonly milliseconds: number };

/** Receipts of a run in their places. */
export type Layout = {
  readonly placed: readonly Placed[];
  readonly gaps: readonly Gap[];
  readonly width: number;
};

/** Width of one receipt, and of a silence. */
export const STEP = 12;
const GAP_WIDTH = 64;

/** Targets that display the conversation itself. */
const CHAT: ReadonlySet<string> = new Set(["chat", "chat-window"]);

/** Silences shorter than this are how streams are. */
const GAP_MS = 500;

/** Which lane a receipt belongs to, from what the log keeps of its event. */
export function laneOf({ direction, receipt }: Entry): Lane {
  if (direction === "inbound") return "request";
  const { event_type: type, target } = receipt;
  if (typeof type !== "string") return "tools";
  if (type === "text_stream") return "text";
  const isOnComponent = target !== undefined && !CHAT.has(target.component_type);
  if (type === "state_update") return isOnComponent ? "activity" : "state";
  if (type === "form_action") return "tools";
  if (type === "navigation" || type === "notification") return "activity";
  if (type === "lifecycle" && target !== undefined) return isOnComponent ? "activity" : "tools";
  return "lifecycle";
}

/** Places receipts in their order, one step each; where nothing came for long, a gap is left and its length told. */
export function layOut(entries: readonly Entry[]): Layout {
  const placed: Placed[] = [];
  const gaps: Gap[] = [];
  let x = 0;
  let before: number | undefined;
  for (const entry of entries) {
    const silence = before === undefined ? 0 : entry.received_at - before;
    if (silence >= GAP_MS) {
      gaps.push({ x, milliseconds: silence });
      x += GAP_WIDTH;
    }
    placed.push({ entry, lane: laneOf(entry), x });
    x += STEP;
    before = entry.received_at;
  }
  return { placed, gaps, width: x };
}
