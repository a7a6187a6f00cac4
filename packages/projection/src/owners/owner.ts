import type { RecordedEvent } from "../ledger/event.js";
import type { SafeLedgerEvent } from "../safe/event.js";

/** Frames that an application owner may be granted; never lifecycle, text and calls. */
export type GrantableFrame = "CUSTOM" | "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA";

/** The context of an owner's frames. */
export type FrameContext = { readonly threadId: string };

/** How one owner projects its facts. */
export type OwnerProjector = {
  /** The owner of the events: compared with the event's `factOwnerRef`, never with its kind. */
  readonly factOwnerRef: string;
  /**
   * The safe event, created with `createSafeEvent`, or `undefined` to show nothing. The only place
   * where a payload is read.
   */
  projectSafeEvent(event: RecordedEvent): SafeLedgerEvent | undefined;
  /**
   * Frames other than the default CUSTOM one. Names need a prefix of the owner; ids of activities
   * start with `factOwnerRef` and a colon.
   */
  projectFrames?(event: SafeLedgerEvent, context: FrameContext): readonly unknown[];
  /** The types that `projectFrames` may return. Default: CUSTOM only. */
  readonly frameTypes?: readonly GrantableFrame[];
};
