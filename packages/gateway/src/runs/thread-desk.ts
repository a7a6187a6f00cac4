import type { CompiledPolicy } from "@countersign/policy";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { createDowngrader } from "@countersign/wire/dialects";
import { ANONYMOUS } from "../access/principal.js";
import type { Principal } from "../access/principal.js";
import type { Finding } from "../inbound/finding.js";
import type { Approval } from "../inbound/resume.js";
import { reviewInput } from "../inbound/review.js";
import type { InputReview } from "../inbound/review.js";
import { assertRoom } from "../ledger/conversation.js";
import { threadKey } from "../ledger/ledger.js";
import type { LedgerName, LedgerRow, ThreadLedger } from "../ledger/ledger.js";
import { RunTrace } from "../ledger/run-trace.js";
import type { TraceWrite } from "../ledger/run-trace.js";
import { rowOf, stateOf } from "../ledger/thread-state.js";
import type { ThreadState } from "../ledger/thread-state.js";
import type { ClientDialect } from "../pipeline/run.js";
import type { Clock } from "../ports.js";

/** Whose request it is, for which agent and under which policy. */
export type DeskQuestion = {
  readonly agent: string;
  /** Whose threads these are, where nobody vouches for anybody. */
  readonly scope: string;
  readonly principal: Principal;
  readonly input: RunAgentInput;
  readonly policy: CompiledPolicy;
};

/** A request at the desk: reviewed, and if it is admitted, followed to its end. */
export type ThreadVisit = {
  readonly findings: readonly Finding[];
  readonly approvals: readonly Approval[];
  readonly state: ThreadState;
  /** The request is admitted: what it says is part of the thread from now on. */
  accept(): Promise<void>;
  /** The run begins: what is delivered is remembered before it is. */
  follow(dialect: ClientDialect): (events: readonly AgUiEvent[]) => Promise<void> | undefined;
  /** The run is over; `isWhole` says that its client was there until the agent's own end. */
  end(isWhole: boolean): Promise<void>;
  /**
   * Nothing was delivered. `wasSent` says that the agent may have read the request all the same: what was
   * said then stays said, and the run id used, or a client that hangs up could say it differently.
   */
  abandon(wasSent: boolean): Promise<void>;
};

type Open = { isEnding: boolean; readonly ended: Promise<void> };
type Entry = { readonly open: Open; leave(): void };

/** How long a request waits for the run before it to be put away. */
const PATIENCE_MS = 5000;
/** How long until the end of a run is noticed whose client went away. */
const NOTICE_MS = 500;

/** The one place where threads are asked about and written to. */
export class ThreadDesk {
  readonly #ledger: ThreadLedger;
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(ledger: ThreadLedger, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Reads the thread and reviews the request; claims its run id when nothing speaks against it. */
  async visit(question: DeskQuestion): Promise<ThreadVisit> {
    const { input, principal } = question;
    const isKnown = principal.id !== ANONYMOUS.id;
    const key = threadKey(question.agent, isKnown ? "" : question.scope, input.threadId);
    const before = this.#open.get(key);
    // A client that hung up may be faster with its next run than we are with noticing that it did, or with
    // our last write about the run it has just seen the end of.
    if (before?.isEnding === false) await within(before.ended, NOTICE_MS);
    if (before?.isEnding === true) await within(before.ended, PATIENCE_MS);
    const findings: Finding[] = [];
    if (this.#open.has(key)) {
      findings.push({ check: "runs", code: "ERR_RUN_ACTIVE", reason: "the thread has a run open" });
    }
    // At once, before anything is awaited: of two requests that come together one is the second.
    const entry = this.#enter(key);
    try {
      return await this.#review(question, key, findings, entry);
    } catch (error) {
      entry.leave();
      throw error;
    }
  }

  async #review(
    { agent, input, policy, principal }: DeskQuestion,
    key: string,
    findings: Finding[],
    { open, leave }: Entry,
  ): Promise<ThreadVisit> {
    const state = stateOf(await this.#ledger.read(key));
    const owner = await this.#ownerOf(threadKey(agent, "", input.threadId), principal, state);
    let review: InputReview = { findings: [], rows: [], claims: [], approvals: [] };
    if (owner !== principal.id) {
      const reason = "the thread belongs to somebody else";
      findings.push({ check: "threads", code: "ERR_THREAD_OWNER", reason });
    } else {
      review = reviewInput(input, state, policy, this.#clock.now());
      findings.push(...review.findings);
      const fresh = review.rows.filter(
        ({ kind, id }) => kind === "message" && !state.messages.has(id),
      );
      if (fresh.length > 0) assertRoom(state.messages.size + fresh.length);
    }
    const run = { kind: "run", id: input.runId } as const;
    const at = this.#clock.now();
    const isUsed = (await this.#ledger.claim(key, { ...run, value: { at } })) !== undefined;
    if (isUsed) {
      const reason = "this run id was used before";
      findings.push({ check: "runs", code: "ERR_RUN_ID_REUSED", reason });
    }
    const claimed = findings.length === 0 ? await this.#claim(key, review, findings) : [];
    let trace: RunTrace | undefined;
    let before: TraceWrite = { rows: [], removed: [] };
    return {
      findings,
      approvals: review.approvals,
      state,
      accept: async () => {
        if (review.rows.length === 0) return;
        const undo = undoOf(state, review.rows);
        await this.#ledger.write(key, review.rows);
        apply(state, review);
        before = undo;
      },
      follow: (dialect) => {
        // Who opened a stream without an input said nothing and repeats nothing. Everybody else is followed,
        // whatever dialect they ask for: they could ask for another the next time.
        if (dialect === "as-sent") return () => undefined;
        const followed = new RunTrace(input, state, dialect !== "1.0");
        trace = followed;
        const shown = formOf(dialect);
        return (events) => {
          for (const event of events) for (const form of shown(event)) followed.see(form);
          open.isEnding = followed.isOver;
          const write = followed.take();
          return write && this.#ledger.write(key, write.rows, write.removed);
        };
      },
      end: async (isWhole) => {
        open.isEnding = true;
        try {
          if (trace === undefined || (isWhole && trace.isOver)) return;
          const { rows, removed } = trace.cut();
          await this.#ledger.write(key, rows, removed);
        } finally {
          leave();
        }
      },
      abandon: async (wasSent) => {
        open.isEnding = true;
        try {
          if (wasSent) {
            const { rows, removed } = new RunTrace(input, state).cut();
            await this.#ledger.write(key, rows, removed);
            return;
          }
          // Neither is anything said: the client may say it differently the next time.
          const removed = [...before.removed, ...claimed, ...(isUsed ? [] : [run])];
          await this.#ledger.write(key, before.rows, removed);
        } finally {
          leave();
        }
      },
    };
  }

  /**
   * Claims what is answered once; gives the names that were free. Two gateways that share a ledger may both
   * have read that nothing was answered yet. The same answer may come again after a run that broke off.
   */
  async #claim(key: string, { claims }: InputReview, findings: Finding[]): Promise<LedgerName[]> {
    const free: LedgerName[] = [];
    await Promise.all(
      claims.map(async ({ row, finding }) => {
        const known = await this.#ledger.claim(key, row);
        if (known === undefined) free.push({ kind: row.kind, id: row.id });
        else if (known["said"] !== row.value["said"]) findings.push(finding);
      }),
    );
    return free;
  }

  /**
   * Whose thread it is: the first who comes, from then on. The agent knows threads by their ids alone, so
   * that those who show nothing count together as somebody too, whichever session they are in.
   */
  async #ownerOf(key: string, { id }: Principal, state: ThreadState): Promise<string> {
    if (state.owner !== undefined) return state.owner;
    const row = { kind: "thread", id: "", value: { owner: id } } as const;
    const known = await this.#ledger.claim(key, row);
    return (known as { owner?: string } | undefined)?.owner ?? id;
  }

  #enter(key: string): Entry {
    let finish = (): void => {};
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const open: Open = { isEnding: false, ended };
    // Where a second run is only remarked upon, the first stays the one that is open.
    const isFirst = !this.#open.has(key);
    if (isFirst) this.#open.set(key, open);
    return {
      open,
      leave: () => {
        if (this.#open.get(key) === open) this.#open.delete(key);
        finish();
      },
    };
  }
}

/** What an older client gets of an event is what it will repeat. */
function formOf(dialect: ClientDialect): (event: AgUiEvent) => readonly AgUiEvent[] {
  if (dialect !== "0.0.55" && dialect !== "0.0.59") return (event) => [event];
  const downgrader = createDowngrader(dialect);
  return (event) => downgrader.push(event).events as unknown as AgUiEvent[];
}

/** What takes rows back: the ones that were there before, or nothing. */
function undoOf(state: ThreadState, rows: readonly LedgerRow[]): TraceWrite {
  const undo: TraceWrite = { rows: [], removed: [] };
  for (const { kind, id } of rows) {
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

function apply(state: ThreadState, { rows }: InputReview): void {
  const added = stateOf(rows);
  for (const [id, record] of added.messages) state.messages.set(id, record);
  for (const [id, call] of added.calls) state.calls.set(id, call);
  for (const [id, interrupt] of added.interrupts) state.interrupts.set(id, interrupt);
}

async function within(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
