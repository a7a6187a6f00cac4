import type { RecordedEvent } from "../ledger/event.js";
import type { SafeLedgerEvent } from "../safe/event.js";

/** Frames that an owner of the application's may be granted; lifecycle, text and calls never. */
export type GrantableFrame = "CUSTOM" | "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA";

/** The run that an owner's frames will be part of. */
export type FrameContext = { readonly threadId: string };

/** How one owner of facts shows them. */
export type OwnerProjector = {
  /** Whose events: compared with the event's own `factOwnerRef`, never with its kind. */
  readonly factOwnerRef: string;
  /**
   * The safe event, made with `createSafeEvent`, or `undefined` to show nothing. The only place where a
   * payload is read.
   */
  projectSafeEvent(event: RecordedEvent): SafeLedgerEvent | undefined;
  /**
   * Frames other than the default CUSTOM one. Names carry a prefix of the owner's own; ids of activities
   * begin with `factOwnerRef` and a colon.
   */
  projectFrames?(event: SafeLedgerEvent, context: FrameContext): readonly unknown[];
  /** What `projectFrames` may make. Default: CUSTOM only. */
  readonly frameTypes?: readonly GrantableFrame[];
};
