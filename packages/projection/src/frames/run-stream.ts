import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent, EventOf, RunFinishedOutcome } from "@countersign/wire";
import { diagnose } from "../base/diagnostic.js";
import type { Diagnostic, Subject } from "../base/diagnostic.js";
import "../base/errors.js";
import type { ProjectionCode } from "../base/errors.js";
import { LedgerRun } from "./ledger-run.js";
import { METADATA_KEY } from "./names.js";
import type { RuntimeCustomName } from "./names.js";
import { UsageTally } from "./usage.js";

/** The open AG-UI run. */
export type OpenRun = {
  readonly run: LedgerRun;
  readonly runId: string;
  readonly usage: UsageTally;
};

/** A run that is about to open on a stream. */
export type OpenedRun = {
  readonly ledgerRunId: number;
  /** The ledger event that opens it. */
  readonly eventId: number;
  readonly isResumed: boolean;
};

/** Options of {@link RunStream}. */
export type RunStreamOptions = {
  readonly runIdFor: (opened: OpenedRun) => string | undefined;
  readonly parentRunId: string | undefined;
  readonly clientTools: ReadonlySet<string>;
};

/** The event data that frames and diagnostics are stamped with. */
export type FrameSource = Subject & { readonly timestamp: number | undefined };

/** Maximum number of frames held for the next run, and of suspended runs. */
const MAX_HELD = 256;
const MAX_SUSPENDED = 1000;

type Held = { readonly place: FrameSource; readonly frame: AgUiEvent };

/**
 * Keeps the frames of a stream inside runs, one run at a time, each with one end (V1 to V4 of the
 * official verifier).
 */
export class RunStream {
  open: OpenRun | undefined;
  threadId = "";
  readonly options: RunStreamOptions;
  readonly #suspended = new Map<number, LedgerRun>();
  #held: Held[] = [];
  #frames: AgUiEvent[] = [];
  #diagnostics: Diagnostic[] = [];

  constructor(options: RunStreamOptions) {
    this.options = options;
  }

  /** Returns the output since the last call. */
  take(): { frames: AgUiEvent[]; diagnostics: Diagnostic[] } {
    const taken = { frames: this.#frames, diagnostics: this.#diagnostics };
    this.#frames = [];
    this.#diagnostics = [];
    return taken;
  }

  report(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
  }

  diagnose(code: ProjectionCode, message: string, place?: FrameSource, reason?: string): void {
    this.report(diagnose(code, message, place, reason === undefined ? {} : { reason }));
  }

  emit(place: FrameSource, frame: AgUiEvent): void {
    if (place.timestamp !== undefined) frame.timestamp = place.timestamp;
    this.#frames.push(frame);
  }

  custom(place: FrameSource, name: RuntimeCustomName, value: JsonValue): void {
    this.emit(place, { type: "CUSTOM", name, value });
  }

  /** A frame without a run of its own: outside a run it waits for the next one. */
  attach(place: FrameSource, frame: AgUiEvent): void {
    if (this.open !== undefined) this.emit(place, frame);
    else {
      this.#held.push({ place, frame });
      if (this.#held.length > MAX_HELD) this.#discard(this.#held.shift());
    }
  }

  /** The open run, if the event belongs to it. */
  within(place: FrameSource, ledgerRunId: number): OpenRun | undefined {
    if (this.open?.run.id === ledgerRunId) return this.open;
    this.diagnose("ERR_PROJECTION_OTHER_RUN", "the event belongs to no open run", place);
    return undefined;
  }

  start(place: FrameSource, ledgerRunId: number, isResumed: boolean): void {
    if (this.open !== undefined) {
      // The runtime may have crashed in the earlier run. It did not finish, so it must not appear
      // finished.
      this.diagnose("ERR_PROJECTION_RUN_SUPERSEDED", "a run started while another was open", place);
      this.fail(place, "Another run started before this one ended.", "agent-os.run.superseded");
    }
    const opened: OpenedRun = { ledgerRunId, eventId: place.id, isResumed };
    const runId = this.options.runIdFor(opened) ?? defaultRunId(opened);
    const run = this.#suspended.get(ledgerRunId) ?? new LedgerRun(ledgerRunId);
    this.#suspended.delete(ledgerRunId);
    this.open = { run, runId, usage: new UsageTally() };
    const { parentRunId } = this.options;
    const started: EventOf<"RUN_STARTED"> = {
      type: "RUN_STARTED",
      threadId: this.threadId,
      runId,
      protocolVersion: "1.0",
      ...(parentRunId !== undefined && { parentRunId }),
      metadata: { [METADATA_KEY]: { ledgerRunId } },
    };
    this.emit(place, started);
    const held = this.#held;
    this.#held = [];
    for (const { place: origin, frame } of held) this.emit(origin, frame);
  }

  finish(
    place: FrameSource,
    outcome: RunFinishedOutcome,
    more: { result?: JsonValue; facts?: JsonObject } = {},
  ): void {
    const { open } = this;
    if (open === undefined) return;
    this.closeLive(place);
    if (outcome.type === "interrupt") {
      this.#suspended.set(open.run.id, open.run);
      const [oldest] = this.#suspended.keys();
      if (this.#suspended.size > MAX_SUSPENDED && oldest !== undefined) {
        this.#suspended.delete(oldest);
      }
    }
    this.open = undefined;
    this.emit(place, {
      type: "RUN_FINISHED",
      threadId: this.threadId,
      runId: open.runId,
      ...(more.result !== undefined && { result: more.result }),
      outcome,
      ...open.usage.total(),
      metadata: { [METADATA_KEY]: { ledgerRunId: open.run.id, ...more.facts } },
    });
  }

  fail(place: FrameSource, message: string, code: string): void {
    const { open } = this;
    if (open === undefined) return;
    this.closeLive(place);
    this.open = undefined;
    this.emit(place, {
      type: "RUN_ERROR",
      message,
      code,
      ...open.usage.total(),
      metadata: { [METADATA_KEY]: { ledgerRunId: open.run.id } },
    });
  }

  /** Ends a message that was shown live and never recorded. */
  closeLive(place: FrameSource): void {
    const run = this.open?.run;
    if (run?.live === undefined) return;
    this.emit(place, { type: "TEXT_MESSAGE_END", messageId: run.live.messageId });
    run.live = undefined;
    const message = "text was shown live and never recorded";
    this.diagnose("ERR_PROJECTION_LIVE_TEXT", message, place, "not-recorded");
  }

  /** Ends the stream: frames that still wait have no run to belong to. */
  end(): void {
    for (const held of this.#held) this.#discard(held);
    this.#held = [];
  }

  #discard(held: Held | undefined): void {
    if (held === undefined) return;
    this.diagnose("ERR_PROJECTION_OUTSIDE_RUN", "no run was there to hold the frame", held.place);
  }
}

/** A run id is never reused on a thread, so a resumed run gets another one. */
function defaultRunId({ ledgerRunId, eventId, isResumed }: OpenedRun): string {
  return isResumed ? `${ledgerRunId}:resumed:${eventId}` : String(ledgerRunId);
}
