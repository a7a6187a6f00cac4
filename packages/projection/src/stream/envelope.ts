import type { AgUiEvent } from "@countersign/wire";
import type { Projected } from "../project.js";
import type { SafeLedgerEvent } from "../safe/event.js";

/**
 * One ledger event and everything it became, for readers that want to know the source of a frame. It is
 * not an AG-UI event; AG-UI clients read the frames alone.
 */
export type Envelope = {
  readonly id: number;
  readonly ts: number;
  readonly kind: string;
  readonly scopeKey: string;
  readonly safeEvent: SafeLedgerEvent;
  readonly agUiFrames: readonly AgUiEvent[];
};

/** A frame with the event it came from. */
export type FlatFrame = {
  readonly eventId: number;
  readonly eventTs: number;
  readonly eventKind: string;
  readonly eventScopeKey: string;
  readonly frame: AgUiEvent;
};

/** The envelope of a projected event. An event that nobody shows has none: its kind would tell of it. */
export function envelopeOf({ safeEvent, frames }: Projected): Envelope | undefined {
  if (safeEvent === undefined) return undefined;
  const { id, ts, kind, scopeKey } = safeEvent;
  return { id, ts, kind, scopeKey, safeEvent, agUiFrames: frames };
}

/** The frames of an envelope, each with the event it came from. */
export function flattenEnvelope(envelope: Envelope): FlatFrame[] {
  const { id, ts, kind, scopeKey } = envelope;
  return envelope.agUiFrames.map((frame) => ({
    eventId: id,
    eventTs: ts,
    eventKind: kind,
    eventScopeKey: scopeKey,
    frame,
  }));
}
