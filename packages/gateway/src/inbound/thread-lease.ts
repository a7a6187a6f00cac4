import type { Denial, MatchedRequest } from "@countersign/policy";
import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";
import { createDowngrader } from "@countersign/wire/dialects";
import { FOREIGN, USED } from "./finding.js";
import type { Finding } from "./finding.js";
import type { Approval } from "./interrupt-answers.js";
import { isRepeatable } from "../thread/delivered-messages.js";
import { earlierThread } from "../thread/earlier-thread.js";
import type { EarlierThread } from "../thread/earlier-thread.js";
import { areAllNew } from "../store/keyed-store.js";
import type { RowClaim, RowName, StoredRow, KeyedStore } from "../store/keyed-store.js";
import type { TraceWrite } from "../thread/pending-rows.js";
import { DeniedCalls } from "../outbound/withhold/denied-calls.js";
import { replayedState } from "../thread/replayed-state.js";
import { RunTrace } from "../thread/run-trace.js";
import { ShownSurfaces, surfaceRow } from "../thread/shown-surfaces.js";
import { UNKNOWN_SHARED_STATE } from "../thread/shared-state.js";
import { rowOf, shownThread, stateOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import type { ClientDialect } from "../event/run.js";
import { withheldOf, withheldRows } from "../outbound/withhold/withheld-rows.js";
import { WithheldRegister } from "../event/withheld-register.js";
import type { ThreadLock } from "./thread-locks.js";

/** A thread with an open run; it stays in the admission's table until the run is saved. */
export class OpenThread {
  /** Nothing more is delivered; only the last write is pending. */
  isEnding = false;
  readonly #threads: Map<string, OpenThread>;
  readonly #key: string;
  #isOver = false;
  #waiting: (() => void)[] | undefined;

  /** In observe mode a second run may open: the first one stays in the table. */
  constructor(threads: Map<string, OpenThread>, key: string) {
    this.#threads = threads;
    this.#key = key;
    if (!threads.has(key)) threads.set(key, this);
  }

  /** Resolves when the run has been saved. */
  whenOver(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Called when the run has been saved, could not be saved, or never began. */
  leave(): void {
    this.#isOver = true;
    if (this.#threads.get(this.#key) === this) this.#threads.delete(this.#key);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}

/** The facts of a lease, from the review of its request. */
type LeaseFacts = {
  readonly store: KeyedStore;
  readonly key: string;
  readonly open: OpenThread;
  readonly input: RunAgentInput;
  readonly state: ThreadState;
  readonly findings: readonly Finding[];
  readonly approvals: readonly Approval[];
  readonly surfaceRequests: readonly MatchedRequest[];
  readonly keepsInterrupts: boolean;
  readonly writtenKeys: readonly string[] | undefined;
  /** Whether a request with a history that differs from the ledger is rejected. */
  readonly isHistoryChecked: boolean;
  /** Keeps runs at other gateways off the thread, if there are any. */
  readonly lock?: ThreadLock | undefined;
  /** Removes a lock that no write of the run has removed. */
  readonly release: (lock: ThreadLock) => Promise<void>;
  readonly agent: string;
  /** With access control, withheld content follows the principal; without it, the session. */
  readonly withheldOwner: string;
  readonly registers: WithheldThreads;
  /** Rows of the content withheld on the thread in earlier runs. */
  readonly withheld: readonly StoredRow[];
  /** Adds a message to the index of delivered ones, for suggestions about the thread. */
  readonly delivered?: ((id: string) => void) | undefined;
  /** Makes the principal the thread's owner, if it has none. */
  readonly threadClaim: RowClaim | undefined;
  /** Uses up the run id, unless the thread has it. */
  readonly runClaim: RowClaim | undefined;
};

const NOTHING: TraceWrite = { rows: [], removed: [] };
const NO_ROWS: readonly StoredRow[] = [];

/** The lease of one request on its thread: from its review, if it is admitted, to the end of its run. */
export class ThreadLease {
  readonly #facts: LeaseFacts;
  /** Rows for the new content of the request. */
  #newRows: readonly StoredRow[];
  /** The write that undoes everything the request has written so far. */
  #undo: TraceWrite;
  #trace: RunTrace | undefined;
  #register: WithheldRegister | undefined;
  #denied: DeniedCalls | undefined;
  #surfaces: ShownSurfaces | undefined;
  #isStateTaken = true;
  #isWritten = false;

  /**
   * @param newRows rows to write when the request is admitted
   * @param claimed keys that were free before this request claimed them
   */
  constructor(facts: LeaseFacts, newRows: readonly StoredRow[], claimed: RowName[]) {
    this.#facts = facts;
    this.#newRows = newRows;
    this.#undo = { rows: [], removed: claimed };
  }

  get findings(): readonly Finding[] {
    return this.#facts.findings;
  }

  get approvals(): readonly Approval[] {
    return this.#facts.approvals;
  }

  /** Clicks and requests of apps, compared with what the thread was shown. */
  get surfaceRequests(): readonly MatchedRequest[] {
    return this.#facts.surfaceRequests;
  }

  get state(): ThreadState {
    return this.#facts.state;
  }

  /** Keys of the request's state that its client did not get from the gateway; `undefined` if unknown. */
  get writtenKeys(): readonly string[] | undefined {
    return this.#facts.writtenKeys;
  }

  /**
   * Makes the principal the thread's owner and uses up the run id, unless another request was faster, and writes the
   * content of the request with these claims. The owner is permanent: another request of the principal may depend on it
   * by the time this one fails.
   */
  async claim(): Promise<Finding | undefined> {
    const { threadClaim, runClaim, store, key } = this.#facts;
    const claims = [threadClaim, runClaim].filter((claim) => claim !== undefined);
    const then = { partition: key, rows: this.#newRows };
    const { known } = await store.claim(claims, undefined, then);
    if (areAllNew(known)) this.#written();
    const owner = threadClaim && known[claims.indexOf(threadClaim)]?.["owner"];
    const isUsed = runClaim !== undefined && known[claims.indexOf(runClaim)] !== undefined;
    if (runClaim !== undefined && !isUsed) {
      this.#undo.removed.push({ kind: "run", id: runClaim.row.id });
    }
    if (owner !== undefined && owner !== threadClaim?.row.value["owner"]) return FOREIGN;
    return isUsed ? USED : undefined;
  }

  /**
   * Writes the content of the admitted request, unless its claim did; except a state that the policy would have blocked
   * in observe mode, which must not count as known once the policy enforces.
   */
  async accept(wouldBlock?: Denial): Promise<void> {
    this.#isStateTaken =
      wouldBlock === undefined && this.findings.every(({ check }) => check !== "state");
    await this.#writeRequest();
  }

  async #writeRequest(): Promise<void> {
    if (this.#isWritten) return;
    if (this.#newRows.length > 0) await this.#facts.store.write(this.#facts.key, this.#newRows);
    this.#written();
  }

  #written(): void {
    this.#isWritten = true;
    const { rows, removed } = undoOf(this.state, this.#newRows);
    apply(this.state, this.#newRows);
    this.#undo = { rows, removed: [...removed, ...this.#undo.removed] };
  }

  /** Opens the register of the thread's withheld content. New withheld content is saved with the thread. */
  openWithheld(): WithheldRegister {
    const { registers, agent, input, withheldOwner, withheld } = this.#facts;
    const register = registers.open(agent, input.threadId, withheldOwner);
    register.load(withheldOf(withheld, withheldOwner));
    this.#register = register;
    return register;
  }

  /** The denied calls of the thread, which are saved with it. */
  deniedCalls(): DeniedCalls {
    return (this.#denied ??= new DeniedCalls(this.#facts.withheldOwner, this.#facts.withheld));
  }

  /** The surfaces that the run shows and removes, which are saved with the thread. */
  shownSurfaces(): ShownSurfaces {
    const { input } = this.#facts;
    return (this.#surfaces ??= new ShownSurfaces(this.state.surfaces, input.runId));
  }

  /** True when the client has got the end of the run; only the last write is pending. */
  get isEnding(): boolean {
    return this.#facts.open.isEnding;
  }

  /** Starts the run. The returned function writes events to the ledger before they are delivered. */
  follow(dialect: ClientDialect): (events: readonly AgUiEvent[]) => Promise<void> | undefined {
    // The agent has read the request, so it can no longer be undone.
    this.#newRows = NO_ROWS;
    this.#undo = NOTHING;
    // A client that opened a stream without an input repeats no messages. All others are tracked, in every dialect: the
    // next request may ask for another.
    if (dialect === "as-sent") return this.#followShown();
    const trace = this.#openTrace(dialect !== "1.0");
    this.#trace = trace;
    const shown = formOf(dialect);
    return (events) => {
      for (const event of events) for (const form of shown(event)) trace.see(form);
      this.#facts.open.isEnding = trace.isOver;
      return this.#write(this.#indexed(trace.take()));
    };
  }

  /**
   * Starts a run that repeats earlier ones: what the ledger has stays, and messages of a run without a listener are added. See
   * {@link follow}.
   */
  followReplay(
    dialect: ClientDialect,
  ): (events: readonly AgUiEvent[]) => Promise<void> | undefined {
    this.#newRows = NO_ROWS;
    this.#undo = NOTHING;
    const { input, state } = this.#facts;
    const known = replayedState(state);
    const trace = new RunTrace({ ...input, messages: [] }, known.state, {
      isOld: dialect !== "1.0",
    });
    const shown = formOf(dialect);
    return (events) => {
      for (const event of events) for (const form of shown(event)) trace.see(form);
      return this.#write(known.newOnly(this.#indexed(trace.take())));
    };
  }

  /** The earlier messages and calls of the thread that the request does not repeat, as of the start of the run. */
  earlier(): EarlierThread {
    const { input, isHistoryChecked, keepsInterrupts } = this.#facts;
    return earlierThread(this.state, input.messages, isHistoryChecked, keepsInterrupts);
  }

  /**
   * Saves the messages shown to a client without an input: an agent must not write into them in a later run. Saves also that the client has
   * a state, so that a later run does not count it as empty.
   */
  #followShown(): (events: readonly AgUiEvent[]) => Promise<void> | undefined {
    const trace = new RunTrace(this.#facts.input, shownThread(this.state));
    return (events) => {
      for (const event of events) trace.see(event);
      return this.#write(shownOnly(trace.take(), this.state.shared.digests.length > 0));
    };
  }

  /** Adds the messages of a write to the index of delivered ones. */
  #indexed(write: TraceWrite | undefined): TraceWrite | undefined {
    const { delivered } = this.#facts;
    if (delivered === undefined || write === undefined) return write;
    for (const { kind, id, value } of write.rows) {
      if (kind === "message" && isRepeatable(value["role"] as Message["role"])) delivered(id);
    }
    return write;
  }

  #openTrace(isOld: boolean): RunTrace {
    const { input, state, isHistoryChecked, keepsInterrupts } = this.#facts;
    const isStateTaken = this.#isStateTaken;
    return new RunTrace(input, state, { isOld, isStateTaken, isHistoryChecked, keepsInterrupts });
  }

  /** Ends the run; `isWhole` means that its client was connected at the agent's own end. */
  async end(isWhole: boolean): Promise<void> {
    const trace = this.#trace;
    const isTold = trace === undefined || (isWhole && trace.isOver);
    return this.#leave(() => (isTold ? undefined : trace.cut()));
  }

  /**
   * Ends a run that delivered nothing. `wasSent`: the agent may have read the request, so its content and run id stay.
   * Otherwise both are undone, and the client may change them.
   */
  async abandon(wasSent: boolean): Promise<void> {
    return this.#leave(() => (wasSent ? this.#openTrace(false).cut() : this.#undo));
  }

  /** Writes these rows, together with newly withheld content. The end of the run also unlocks the thread. */
  #write(write: TraceWrite | undefined): Promise<void> | undefined {
    const { lock, open, release } = this.#facts;
    if (lock?.isHeld !== true || !open.isEnding) return this.#writeRows(write);
    // Before the write, because no second write may remove the row: it can be another gateway's by then.
    lock.isHeld = false;
    // In one write with the last rows of the run: the next run, at any gateway, reads them.
    const { rows, removed } = write ?? NOTHING;
    return this.#writeRows({ rows, removed: [...removed, lock.name] })?.catch((error: unknown) => {
      lock.isHeld = true;
      void release(lock);
      throw error;
    });
  }

  #writeRows(trace: TraceWrite | undefined): Promise<void> | undefined {
    const { store, key, withheldOwner } = this.#facts;
    const write = joined(trace, this.#surfaces?.take());
    const register = this.#register;
    const fresh = register?.take();
    const denied = this.#denied?.take();
    if (fresh === undefined && denied === undefined) {
      return write && store.write(key, write.rows, write.removed);
    }
    const { rows, removed } = write ?? NOTHING;
    const withheld = fresh === undefined ? NO_ROWS : withheldRows(withheldOwner, fresh);
    return store
      .write(key, [...rows, ...withheld, ...(denied ?? NO_ROWS)], removed)
      .catch((error: unknown) => {
        if (fresh !== undefined) register?.putBack(fresh);
        if (denied !== undefined) this.#denied?.putBack();
        throw error;
      });
  }

  async #leave(lastWrite: () => TraceWrite | undefined): Promise<void> {
    this.#facts.open.isEnding = true;
    try {
      await this.#write(lastWrite());
    } finally {
      const { lock, release, open } = this.#facts;
      if (lock !== undefined) await release(lock);
      open.leave();
    }
  }
}

function joined(
  one: TraceWrite | undefined,
  other: TraceWrite | undefined,
): TraceWrite | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { rows: [...one.rows, ...other.rows], removed: [...one.removed, ...other.removed] };
}

/**
 * The messages among these rows, as those of a client that repeats none, and whether it has a state. The states of other clients stay.
 */
function shownOnly(write: TraceWrite | undefined, hasState: boolean): TraceWrite | undefined {
  if (write === undefined) return undefined;
  const kindOf = ({ kind }: RowName): "shown" | "calls" | undefined =>
    kind === "message" || kind === "shown" ? "shown" : kind === "calls" ? kind : undefined;
  const rows = write.rows.flatMap((row) => {
    if (row.kind === "state" && !hasState) return [rowOf("state", row.id, UNKNOWN_SHARED_STATE)];
    const kind = kindOf(row);
    return kind === undefined ? [] : [{ ...row, kind }];
  });
  const kept = new Set(rows.flatMap(({ kind, id }) => (kind === "state" ? [] : [id])));
  const removed = write.removed.flatMap((name) => {
    const kind = kindOf(name);
    return kind === undefined || kept.has(name.id) ? [] : [{ kind, id: name.id }];
  });
  return rows.length + removed.length === 0 ? undefined : { rows, removed };
}

/** Converts an event to the form that an older client gets and will repeat. */
function formOf(dialect: ClientDialect): (event: AgUiEvent) => readonly AgUiEvent[] {
  if (dialect !== "0.0.55" && dialect !== "0.0.59") return (event) => [event];
  const downgrader = createDowngrader(dialect);
  return (event) => downgrader.push(event).events as unknown as AgUiEvent[];
}

/** The write that undoes these rows: it restores the earlier ones and removes the others. */
function undoOf(state: ThreadState, rows: readonly StoredRow[]): TraceWrite {
  const undo: TraceWrite = { rows: [], removed: [] };
  const tables = { message: state.messages, call: state.calls, interrupt: state.interrupts };
  for (const { kind, id } of rows) {
    if (kind === "declined") {
      undo.rows.push(rowOf("declined", "", { calls: state.declined }));
      continue;
    }
    const surface = kind === "surface" ? state.surfaces.get(id) : undefined;
    if (surface !== undefined) {
      undo.rows.push(surfaceRow(id, surface));
      continue;
    }
    const known = kind in tables ? tables[kind as keyof typeof tables].get(id) : undefined;
    if (known === undefined) undo.removed.push({ kind, id });
    else undo.rows.push(rowOf(kind as "message", id, known));
  }
  return undo;
}

function apply(state: ThreadState, rows: readonly StoredRow[]): void {
  const added = stateOf(rows);
  for (const [id, record] of added.messages) state.messages.set(id, record);
  for (const [id, call] of added.calls) state.calls.set(id, call);
  for (const id of added.tools) state.tools.add(id);
  for (const [id, interrupt] of added.interrupts) state.interrupts.set(id, interrupt);
  for (const [id, surface] of added.surfaces) state.surfaces.set(id, surface);
  if (rows.some(({ kind }) => kind === "declined")) state.declined = added.declined;
}

/** Maximum number of threads; the least recently used one is evicted first. */
const MAX_THREADS = 50_000;

/** The registers of withheld content in memory, one for each thread of each owner; bounded. */
export class WithheldThreads {
  readonly #registers = new Map<string, WithheldRegister>();

  /**
   * Returns the register of a thread, and creates it when it is new.
   *
   * Clients choose thread ids, so each owner has its own: a block for one person must not affect another who names the same thread.
   */
  open(agent: string, threadId: string, owner: string): WithheldRegister {
    const key = JSON.stringify([agent, owner, threadId]);
    const register = this.#registers.get(key) ?? new WithheldRegister();
    // Deleting and inserting moves it to the end of the map.
    this.#registers.delete(key);
    this.#registers.set(key, register);
    if (this.#registers.size > MAX_THREADS) {
      const oldest = this.#registers.keys().next();
      if (oldest.done !== true) this.#registers.delete(oldest.value);
    }
    return register;
  }
}
