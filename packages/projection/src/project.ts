import { isCountersignError } from "@countersign/core";
import type { AgUiEvent, Message } from "@countersign/wire";
import { reduceEvents } from "@countersign/wire/reduce";
import { diagnose, diagnoseThrown } from "./base/diagnostic.js";
import type { Diagnostic } from "./base/diagnostic.js";
import { emitLiveText } from "./frames/message-frames.js";
import type { LiveText } from "./frames/message-frames.js";
import { emitOwnerFrames } from "./frames/owner-frames.js";
import { RESERVED_PREFIX } from "./frames/names.js";
import { RunStream } from "./frames/run-stream.js";
import type { FrameSource, OpenedRun } from "./frames/run-stream.js";
import { RUNTIME_FRAMES } from "./frames/runtime-frames.js";
import type { RuntimeSource } from "./frames/runtime-frames.js";
import { decodeLedgerEvent, timestampOf } from "./ledger/event.js";
import type { RecordedEvent } from "./ledger/event.js";
import type { OwnerProjector } from "./owners/owner.js";
import { OwnerRegistry } from "./owners/registry.js";
import { RUNTIME_OWNER, runtimeKind } from "./owners/runtime/project-runtime.js";
import { projectSafely } from "./owners/safe-projector.js";
import { Disclosure } from "./safe/disclosure.js";
import type { DisclosureSpec } from "./safe/disclosure.js";
import type { SafeLedgerEvent } from "./safe/event.js";

/** Options of {@link createLedgerProjection}. */
export type ProjectionSpec = {
  /**
   * The scope of the stream. Default: that of the first event. Events of other scopes produce
   * nothing.
   */
  readonly scopeKey?: string;
  /** Default: the scope key. */
  readonly threadId?: string;
  readonly parentRunId?: string;
  /** Only this run of the ledger. */
  readonly ledgerRunId?: number;
  /** The client's id for a run; the run it requested must have the id it requested. */
  readonly runIdFor?: (opened: OpenedRun) => string | undefined;
  /** Application owners in addition to the built-in ones. */
  readonly owners?: readonly OwnerProjector[];
  readonly disclosure?: DisclosureSpec;
  /** Names of tools that the client executes itself. */
  readonly clientTools?: readonly string[];
  /**
   * The client's messages; a snapshot includes them, because a client drops messages that a
   * snapshot lacks.
   */
  readonly messages?: readonly Message[];
};

/** The result of one event. */
export type Projected = {
  readonly frames: readonly AgUiEvent[];
  readonly diagnostics: readonly Diagnostic[];
  /** The safe event of its owner. */
  readonly safeEvent?: SafeLedgerEvent;
};

/** A stream of frames over a ledger. It never writes to the ledger. */
export type LedgerProjection = {
  /** Rejected entries of the spec. */
  readonly diagnostics: readonly Diagnostic[];
  /** The id of the last processed event. */
  readonly cursor: number;
  /** Whether a run is open, so that the stream may not end yet. */
  readonly isRunOpen: boolean;
  /** Projects one row, in ascending order of ids. Never throws on a row. */
  push(row: unknown): Projected;
  /** Shows text of the open run before it is recorded; the record confirms it later. */
  pushLive(text: LiveText): Projected;
  /**
   * Takes earlier rows, in any order, and restates them: the last run's start, one snapshot of the
   * conversation, and the run's end if it ended. Nothing is streamed a second time.
   */
  replay(rows: Iterable<unknown>): Projected;
  /** Ends the stream. A run that is still open ends in RUN_ERROR: it must not appear finished. */
  end(): Projected;
};

/**
 * Creates a projection.
 *
 * @throws TypeError when the spec contradicts itself
 */
export function createLedgerProjection(spec: ProjectionSpec = {}): LedgerProjection {
  return new Projection(spec);
}

const NOWHERE: FrameSource = { id: 0, kind: "", factOwnerRef: "", timestamp: undefined };

class Projection implements LedgerProjection {
  cursor = 0;
  readonly diagnostics: readonly Diagnostic[];
  readonly #spec: ProjectionSpec;
  readonly #owners: OwnerRegistry;
  readonly #disclosure: Disclosure;
  readonly #stream: RunStream;
  #scopeKey: string | undefined;
  #isEnded = false;

  constructor(spec: ProjectionSpec) {
    this.#spec = spec;
    this.#owners = new OwnerRegistry(spec.owners ?? []);
    this.diagnostics = this.#owners.diagnostics;
    this.#disclosure = new Disclosure(spec.disclosure ?? {});
    this.#stream = new RunStream({
      runIdFor: spec.runIdFor ?? (() => undefined),
      parentRunId: spec.parentRunId,
      clientTools: new Set(spec.clientTools),
    });
    if (spec.scopeKey !== undefined) this.#enterScope(spec.scopeKey);
  }

  get isRunOpen(): boolean {
    return this.#stream.open !== undefined;
  }

  push(row: unknown): Projected {
    this.#assertOpen();
    const safeEvent = this.#project(row);
    const { frames, diagnostics } = this.#stream.take();
    return safeEvent === undefined ? { frames, diagnostics } : { frames, diagnostics, safeEvent };
  }

  pushLive(text: LiveText): Projected {
    this.#assertOpen();
    emitLiveText(this.#stream, text, this.#disclosure);
    return this.#stream.take();
  }

  replay(rows: Iterable<unknown>): Projected {
    this.#assertOpen();
    const history: AgUiEvent[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const row of inOrder(rows)) {
      const projected = this.push(row);
      history.push(...projected.frames);
      diagnostics.push(...projected.diagnostics);
    }
    const start = history.findLastIndex(({ type }) => type === "RUN_STARTED");
    const started = history[start];
    if (started === undefined) return { frames: [], diagnostics };
    const last = history.at(-1);
    const isEnded = last?.type === "RUN_FINISHED" || last?.type === "RUN_ERROR";
    const snapshot = snapshotOf(history, this.#spec.messages ?? []);
    if (snapshot === undefined) {
      const message = "the history is too large to be restated";
      diagnostics.push(diagnose("ERR_PROJECTION_HISTORY_TOO_LARGE", message));
    }
    const frames = [started, snapshot, isEnded ? last : undefined];
    return { frames: frames.filter((frame) => frame !== undefined), diagnostics };
  }

  end(): Projected {
    this.#assertOpen();
    this.#isEnded = true;
    if (this.#stream.open !== undefined) {
      this.#stream.diagnose("ERR_PROJECTION_STREAM_ENDED", "the stream ended before its run did");
      this.#stream.fail(NOWHERE, "The stream ended before the run did.", "agent-os.stream.ended");
    }
    this.#stream.end();
    return this.#stream.take();
  }

  #project(row: unknown): SafeLedgerEvent | undefined {
    let event: RecordedEvent;
    try {
      event = decodeLedgerEvent(row);
    } catch (error) {
      this.#stream.report(diagnoseThrown(error));
      return undefined;
    }
    const refusal = this.#refusal(event);
    if (refusal !== undefined) {
      this.#stream.report(refusal);
      return undefined;
    }
    const projected = projectSafely(event, this.#owners, this.#disclosure);
    if (projected.safe === undefined) this.#stream.report(projected.diagnostic);
    else this.#emit(projected.safe);
    return projected.safe;
  }

  /** Repeated rows and rows of other scopes are refused before any owner sees them. */
  #refusal(event: RecordedEvent): Diagnostic | undefined {
    if (event.id <= this.cursor) {
      return diagnose("ERR_PROJECTION_DUPLICATE_EVENT", "the event was projected before", event);
    }
    this.cursor = event.id;
    if (this.#scopeKey === undefined) this.#enterScope(event.scopeKey);
    if (event.scopeKey === this.#scopeKey) return undefined;
    return diagnose("ERR_PROJECTION_OTHER_SCOPE", "the event belongs to another scope", event);
  }

  #emit(safe: SafeLedgerEvent): void {
    const { id, kind, factOwnerRef, scopeKey } = safe;
    const place: RuntimeSource = {
      id,
      kind,
      factOwnerRef,
      scopeKey,
      timestamp: timestampOf(safe.ts),
    };
    const projector = this.#owners.find(factOwnerRef);
    if (factOwnerRef === RUNTIME_OWNER) this.#emitRuntime(place, safe);
    else if (projector !== undefined) {
      emitOwnerFrames(this.#stream, place, projector, safe, this.#disclosure);
    } else {
      const value = { id, kind, safePayload: safe.safePayload ?? null };
      this.#stream.attach(place, { type: "CUSTOM", name: `${RESERVED_PREFIX}${kind}`, value });
    }
  }

  #emitRuntime(place: RuntimeSource, safe: SafeLedgerEvent): void {
    const kind = runtimeKind(safe.kind);
    const payload = safe.safePayload as { runId?: number } | undefined;
    if (kind === undefined || payload === undefined) return;
    const { ledgerRunId } = this.#spec;
    if (ledgerRunId !== undefined && payload.runId !== undefined && payload.runId !== ledgerRunId) {
      const message = "the event belongs to another run than the stream";
      this.#stream.diagnose("ERR_PROJECTION_OTHER_RUN", message, place);
      return;
    }
    // The table is typed per kind; TypeScript cannot follow the union through the index.
    const make = RUNTIME_FRAMES[kind] as (
      stream: RunStream,
      at: RuntimeSource,
      of: unknown,
    ) => void;
    make(this.#stream, place, payload);
  }

  #enterScope(scopeKey: string): void {
    this.#scopeKey = scopeKey;
    this.#stream.threadId = this.#spec.threadId ?? scopeKey;
  }

  #assertOpen(): void {
    if (this.#isEnded) throw new TypeError("the projection has ended");
  }
}

/** The conversation of the frames; undefined when a client could not hold it either. */
function snapshotOf(
  frames: readonly AgUiEvent[],
  messages: readonly Message[],
): AgUiEvent | undefined {
  try {
    const view = reduceEvents(frames, { messages });
    return { type: "MESSAGES_SNAPSHOT", messages: [...view.messages] };
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}

/** Sorted on a copy; rows that are not events sort first, and `push` reports them. */
function inOrder(rows: Iterable<unknown>): unknown[] {
  const idOf = (row: unknown): number => {
    try {
      const id = (row as { id?: unknown } | null | undefined)?.id;
      return typeof id === "number" ? id : 0;
    } catch {
      return 0;
    }
  };
  return [...rows].sort((left, right) => idOf(left) - idOf(right));
}
