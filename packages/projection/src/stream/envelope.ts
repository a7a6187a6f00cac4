import type { AgUiEvent } from "@countersign/wire";
import type { Projected } from "../project.js";
import type { SafeLedgerEvent } from "../safe/event.js";

/**
 * One ledger event with its frames, for readers that need the source of a frame. It is not an AG-UI
 * event; AG-UI clients read the frames alone.
 */
export type Envelope = {
  readonly id: number;
  readonly ts: number;
  readonly kind: string;
  readonly scopeKey: string;
  readonly safeEvent: SafeLedgerEvent;
  readonly agUiFrames: readonly AgUiEvent[];
};

/** A frame with its source event. */
export type FlatFrame = {
  readonly eventId: number;
  readonly eventTs: number;
  readonly eventKind: string;
  readonly eventScopeKey: string;
  readonly frame: AgUiEvent;
};

/**
 * The envelope of a projected event. An event that is not shown has none: even its kind would
 * reveal it.
 */
export function envelopeOf({ safeEvent, frames }: Projected): Envelope | undefined {
  if (safeEvent === undefined) return undefined;
  const { id, ts, kind, scopeKey } = safeEvent;
  return { id, ts, kind, scopeKey, safeEvent, agUiFrames: frames };
}

/** The frames of an envelope, each with its source event. */
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
