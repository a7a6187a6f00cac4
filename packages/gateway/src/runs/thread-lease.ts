import type { Denial } from "@countersign/policy";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { createDowngrader } from "@countersign/wire/dialects";
import { FOREIGN } from "../inbound/finding.js";
import type { Finding } from "../inbound/finding.js";
import type { Approval } from "../inbound/resume.js";
import type { InputReview } from "../inbound/review.js";
import { earlierThread } from "../thread/held-thread.js";
import type { EarlierThread } from "../thread/held-thread.js";
import type { LedgerClaim, LedgerName, LedgerRow, ThreadLedger } from "../thread/ledger.js";
import type { TraceWrite } from "../thread/pending-rows.js";
import { DeniedCalls } from "../outbound/withhold/denied-calls.js";
import { RunTrace } from "../thread/run-trace.js";
import { declinedRow, rowOf, shownThread, stateOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import type { ClientDialect } from "../event/run.js";
import type { WithheldRegister } from "../event/withheld-register.js";
import { withheldOf, withheldRows } from "../outbound/withhold/withheld-rows.js";
import type { OpenThread } from "./open-thread.js";

/** What a visit needs of the desk. */
export type LeaseFacts = {
  readonly ledger: ThreadLedger;
  readonly key: string;
  readonly open: OpenThread;
  readonly input: RunAgentInput;
  readonly state: ThreadState;
  readonly findings: readonly Finding[];
  readonly review: InputReview;
  readonly writtenKeys: readonly string[] | undefined;
  /** Whether a request is refused whose history differs from the ledger. */
  readonly isHistoryChecked: boolean;
  /** Names that were free before this request claimed them. */
  readonly claimed: readonly LedgerName[];
  /** What was withheld on the thread in earlier runs. */
  readonly withheld: readonly LedgerRow[];
  /** Makes the thread the principal's, while it is nobody's. */
  readonly owning: LedgerClaim | undefined;
};

const NOTHING: TraceWrite = { rows: [], removed: [] };
const NO_ROWS: readonly LedgerRow[] = [];

/** A request at the desk: reviewed, and if it is admitted, followed to its end. */
export class ThreadLease {
  readonly findings: readonly Finding[];
  readonly approvals: readonly Approval[];
  readonly state: ThreadState;
  /** Keys of the request's state that its client was not left with; undefined when nothing of it is known. */
  readonly writtenKeys: readonly string[] | undefined;
  readonly #isHistoryChecked: boolean;
  readonly #withheld: readonly LedgerRow[];
  readonly #ledger: ThreadLedger;
  readonly #key: string;
  readonly #open: OpenThread;
  readonly #input: RunAgentInput;
  readonly #owning: LedgerClaim | undefined;
  /** What the request says that is new. */
  #said: readonly LedgerRow[];
  /** What takes back all that the request has done so far. */
  #undo: TraceWrite;
  #trace: RunTrace | undefined;
  #register: { readonly owner: string; readonly units: WithheldRegister } | undefined;
  #denied: DeniedCalls | undefined;
  #isStateTaken = true;

  constructor(facts: LeaseFacts) {
    const { ledger, key, open, input, state, findings, review, claimed } = facts;
    this.findings = findings;
    this.approvals = review.approvals;
    this.state = state;
    this.writtenKeys = facts.writtenKeys;
    this.#isHistoryChecked = facts.isHistoryChecked;
    this.#withheld = facts.withheld;
    this.#ledger = ledger;
    this.#key = key;
    this.#open = open;
    this.#input = input;
    this.#owning = facts.owning;
    this.#said = review.rows;
    this.#undo = { rows: [], removed: [...claimed] };
  }

  /**
   * Makes the thread the principal's, if nobody was faster; asked when nothing else speaks against the request
   * and before its receipt, which could not be taken back. For good: another request of the same principal may
   * rest on it by the time this one fails.
   */
  async claim(): Promise<Finding | undefined> {
    if (this.#owning === undefined) return undefined;
    const { known } = await this.#ledger.claim([this.#owning]);
    const mine = this.#owning.row.value["owner"];
    return (known[0]?.["owner"] ?? mine) === mine ? undefined : FOREIGN;
  }

  /**
   * The request is admitted: what it says is part of the thread from now on. But for a state that a policy would
   * have refused, had it done more than observe: it must not count as known on the day it does.
   */
  async accept(remark?: Denial): Promise<void> {
    this.#isStateTaken =
      remark === undefined && this.findings.every(({ check }) => check !== "state");
    if (this.#said.length === 0) return;
    const { rows, removed } = undoOf(this.state, this.#said);
    await this.#ledger.write(this.#key, this.#said);
    apply(this.state, this.#said);
    this.#undo = { rows, removed: [...removed, ...this.#undo.removed] };
  }

  /** What is withheld on the thread is known to the register from now on, and what it withholds to the ledger. */
  withhold(units: WithheldRegister, owner: string): void {
    units.load(withheldOf(this.#withheld, owner));
    this.#register = { owner, units };
  }

  /** The denied calls of the thread so far, which are kept with it from now on. */
  deniedCalls(owner: string): DeniedCalls {
    return (this.#denied ??= new DeniedCalls(owner, this.#withheld));
  }

  /** Whether the client has been told the run's end; only the last write is still to come. */
  get isEnding(): boolean {
    return this.#open.isEnding;
  }

  /** The run begins: what is delivered is remembered before it is. */
  follow(dialect: ClientDialect): (events: readonly AgUiEvent[]) => Promise<void> | undefined {
    // The agent has read the request: nothing of it can be taken back any more.
    this.#said = NO_ROWS;
    this.#undo = NOTHING;
    // Who opened a stream without an input said nothing and repeats nothing. Everybody else is followed,
    // whatever dialect they ask for: they could ask for another the next time.
    if (dialect === "as-sent") return this.#followShown();
    const trace = this.#openTrace(dialect !== "1.0");
    this.#trace = trace;
    const shown = formOf(dialect);
    return (events) => {
      for (const event of events) for (const form of shown(event)) trace.see(form);
      this.#open.isEnding = trace.isOver;
      return this.#write(trace.take());
    };
  }

  /** The earlier messages and calls of the thread that the request does not repeat; asked when the run begins. */
  earlier(): EarlierThread {
    return earlierThread(this.state, this.#input.messages, this.#isHistoryChecked);
  }

  /** Remembers what a client without an input is shown: an agent must not write into it in a later run. */
  #followShown(): (events: readonly AgUiEvent[]) => Promise<void> | undefined {
    const trace = new RunTrace(this.#input, shownThread(this.state));
    return (events) => {
      for (const event of events) trace.see(event);
      return this.#write(shownOnly(trace.take()));
    };
  }

  #openTrace(isOld: boolean): RunTrace {
    return new RunTrace(this.#input, this.state, {
      isOld,
      isStateTaken: this.#isStateTaken,
      isHistoryChecked: this.#isHistoryChecked,
    });
  }

  /** The run is over; `isWhole` says that its client was there until the agent's own end. */
  async end(isWhole: boolean): Promise<void> {
    const trace = this.#trace;
    const isTold = trace === undefined || (isWhole && trace.isOver);
    return this.#leave(() => (isTold ? undefined : trace.cut()));
  }

  /**
   * Nothing was delivered. `wasSent` says that the agent may have read the request all the same: what was
   * said then stays said, and the run id used, or a client that hangs up could say it differently. Without,
   * neither is anything said: the client may say it differently the next time.
   */
  async abandon(wasSent: boolean): Promise<void> {
    return this.#leave(() => (wasSent ? this.#openTrace(false).cut() : this.#undo));
  }

  /** Writes what there is to write, and what was withheld meanwhile with it. */
  #write(write: TraceWrite | undefined): Promise<void> | undefined {
    const register = this.#register;
    const fresh = register?.units.take();
    const denied = this.#denied?.take();
    if (fresh === undefined && denied === undefined) {
      return write && this.#ledger.write(this.#key, write.rows, write.removed);
    }
    const { rows, removed } = write ?? NOTHING;
    const withheld = register && fresh ? withheldRows(register.owner, fresh) : NO_ROWS;
    return this.#ledger
      .write(this.#key, [...rows, ...withheld, ...(denied ?? NO_ROWS)], removed)
      .catch((error: unknown) => {
        if (fresh !== undefined) register?.units.putBack(fresh);
        if (denied !== undefined) this.#denied?.putBack();
        throw error;
      });
  }

  async #leave(lastWrite: () => TraceWrite | undefined): Promise<void> {
    this.#open.isEnding = true;
    try {
      await this.#write(lastWrite());
    } finally {
      this.#open.leave();
    }
  }
}

/** The messages among what is to be written, as those of a client that repeats nothing. */
function shownOnly(write: TraceWrite | undefined): TraceWrite | undefined {
  if (write === undefined) return undefined;
  const isMessage = ({ kind }: LedgerName): boolean => kind === "message" || kind === "shown";
  const rows = write.rows.filter(isMessage).map((row) => ({ ...row, kind: "shown" as const }));
  const kept = new Set(rows.map(({ id }) => id));
  const removed = write.removed
    .filter((name) => isMessage(name) && !kept.has(name.id))
    .map(({ id }) => ({ kind: "shown" as const, id }));
  return rows.length + removed.length === 0 ? undefined : { rows, removed };
}

function asItIs(event: AgUiEvent): readonly AgUiEvent[] {
  return [event];
}

/** What an older client gets of an event is what it will repeat. */
function formOf(dialect: ClientDialect): (event: AgUiEvent) => readonly AgUiEvent[] {
  if (dialect !== "0.0.55" && dialect !== "0.0.59") return asItIs;
  const downgrader = createDowngrader(dialect);
  return (event) => downgrader.push(event).events as unknown as AgUiEvent[];
}

/** What takes rows back: the ones that were there before, or nothing. */
function undoOf(state: ThreadState, rows: readonly LedgerRow[]): TraceWrite {
  const undo: TraceWrite = { rows: [], removed: [] };
  for (const { kind, id } of rows) {
    if (kind === "declined") {
      undo.rows.push(declinedRow(state.declined));
      continue;
    }
    const known =
      kind === "message"
        ? state.messages.get(id)
        : kind === "call"
          ? state.calls.get(id)
          : state.interrupts.get(id);
    if (known === undefined) undo.removed.push({ kind, id });
    else undo.rows.push(rowOf(kind as "message", id, known));
  }
  return undo;
}

function apply(state: ThreadState, rows: readonly LedgerRow[]): void {
  const added = stateOf(rows);
  for (const [id, record] of added.messages) state.messages.set(id, record);
  for (const [id, call] of added.calls) state.calls.set(id, call);
  for (const id of added.tools) state.tools.add(id);
  for (const [id, interrupt] of added.interrupts) state.interrupts.set(id, interrupt);
  if (rows.some(({ kind }) => kind === "declined")) state.declined = added.declined;
}
