import { SmallMap } from "@countersign/core";
import type { Interrupt } from "@countersign/wire";
import { remainingPrefixBudget } from "./prefix-budget.js";
import { assertRoom, MAX_MESSAGES } from "./conversation.js";
import type { HeldCall, HeldMessage } from "./held-message.js";
import { joinRecords } from "./join-records.js";
import { digestOf } from "./digest.js";
import { isAgents } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import { PendingRows } from "./pending-rows.js";
import type { TraceWrite } from "./pending-rows.js";
import { RunOrder } from "./run-order.js";
import type { RunOrderFacts } from "./run-order.js";
import type { SharedState } from "./shared-state.js";
import { interruptShown, rowOf, sharedRow } from "./thread-state.js";
import type { CallState, ThreadState } from "./thread-state.js";

/** Contents remembered of messages that share an id. */
const MAX_TWINS = 8;

/** What a run's notes are about. */
export type RunNotesFacts = RunOrderFacts & {
  /** Tools that the client declared for this run. */
  readonly clientTools: ReadonlySet<string>;
};

/** Writes down what became of a conversation during one run, as rows for the ledger. */
export class RunNotes {
  readonly #facts: RunNotesFacts;
  readonly #state: ThreadState;
  readonly #order: RunOrder;
  readonly #pending = new PendingRows();
  /** Messages this run wrote into: of a cut run, the client may have any beginning of them. */
  readonly #written = new SmallMap<HeldMessage, true>();
  /** When each message of this run began, and when one was taken back. */
  readonly #began = new SmallMap<string, number>();
  readonly #gone = new SmallMap<string, { at: number; behind: string | undefined }>();
  #isBegun = false;
  #moment = 0;

  constructor(facts: RunNotesFacts) {
    this.#facts = facts;
    this.#state = facts.state;
    this.#order = new RunOrder(facts);
  }

  /** How many events were seen; messages that come in one event come one after the other. */
  get moment(): number {
    return this.#moment;
  }

  /** The next moment has come. */
  next(): number {
    return (this.#moment += 1);
  }

  /** What has to be durable before the events seen so far are delivered; empty when nothing has. */
  take(): TraceWrite | undefined {
    return this.#pending.take();
  }

  /** A message that opened, ended or changed; a twin shares its id with another that stays. */
  put(message: HeldMessage, isTwin = false): void {
    const { id } = message;
    this.#begin();
    // An id stays with its role. Only where a policy observes does another one pass: the ledger keeps the first.
    const role = this.#state.messages.get(id)?.role ?? message.role;
    if (role !== message.role) return;
    if (this.#order.isFresh(id)) this.#enter(message);
    this.#written.set(message, true);
    const record = this.#traced(id, message.record());
    const known = this.#state.messages.get(id);
    if (known === undefined) assertRoom(this.#state.messages.size + 1);
    // Two answers under one id are two messages of the client, and it did not send every known message.
    const isElsewhere = known !== undefined && !this.#order.wasSent(id);
    if (isTwin || (isElsewhere && known.open !== true && this.#order.wasKnown(id))) {
      const contents = new Set([...(known?.content ?? []), ...record.content]);
      record.content = [...contents].slice(-MAX_TWINS);
      delete record.at;
      delete record.sizes;
    }
    this.#state.messages.set(id, record);
    this.#pending.put(rowOf("message", id, record));
  }

  /** A call that was opened or is whole. */
  putCall(call: HeldCall): void {
    const known = this.#state.calls.get(call.id);
    const isSame = known !== undefined && known.name === call.name;
    const { arguments: meaning, lenient } = call.isOpen ? {} : (call.readings() ?? known ?? {});
    this.#putCallState(call.id, {
      ...(known?.isAnswered === true ? { isAnswered: true } : {}),
      ...(known?.isAgents === true ? { isAgents: true } : {}),
      name: call.name,
      ...(meaning === undefined ? {} : { arguments: meaning }),
      ...(lenient === undefined ? {} : { lenient }),
      // As it was when it was called: a tool that is declared later was not the client's then.
      isClients: isSame ? known.isClients : this.#isClients(call.name),
    });
  }

  #isClients(name: string): boolean {
    return this.#facts.clientTools.has(name) || this.#state.tools.has(digestOf(name));
  }

  /** An activity: no client sends it back, and no later message may take its id. */
  putActivity(id: string, activityType: string): void {
    const known = this.#state.shown.get(id);
    if (known === undefined) this.#keepShown(id, { role: "activity", activityType, content: [] });
    else if (known.activityType !== undefined && known.activityType !== activityType) {
      // A client that did not get the event has the type of before.
      this.#keepShown(id, { role: "activity", content: [] });
    }
  }

  /** The agent answered the call itself, in an event or in a message list. */
  answered(toolCallId: string): void {
    const call = this.#state.calls.get(toolCallId);
    if (call === undefined) return;
    this.#putCallState(toolCallId, { ...call, isAnswered: true, isAgents: true });
  }

  /** Before a message list takes effect: whoever does not get it holds what was there. */
  beforeRestating(replaced: readonly HeldMessage[]): readonly string[] {
    this.#begin();
    for (const message of replaced) this.#written.set(message, true);
    return this.#order.ids();
  }

  /** After a message list took effect: what it took back, and where everything is now. */
  afterRestating(heldBefore: readonly string[]): void {
    this.#order.isRestated = true;
    for (const [index, id] of heldBefore.entries()) {
      if (this.#facts.conversation.has(id) || !this.#began.has(id)) continue;
      this.#gone.set(id, { at: this.#moment, behind: heldBefore[index - 1] });
      this.#forget(id);
    }
    this.#pending.put(this.#order.rowMeanwhile(this.#order.ids()));
  }

  /** The interrupts that a run ended with; the client forgets what it was asked before, whatever it ended with. */
  asked(interrupts: readonly Interrupt[]): void {
    const { interrupts: open } = this.#state;
    for (const id of open.keys()) this.#pending.remove({ kind: "interrupt", id });
    open.clear();
    for (const interrupt of interrupts) {
      const shown = interruptShown(interrupt, this.#facts.runId, this.#state.calls);
      open.set(interrupt.id, shown);
      this.#pending.put(rowOf("interrupt", interrupt.id, shown));
    }
  }

  /** What the client may hold of the shared state; nothing where there is none. */
  shared(left: SharedState): void {
    if (left.digests.length === 0 && this.#state.shared.digests.length === 0) return;
    this.#state.shared = left;
    this.#pending.put(sharedRow(left));
  }

  /** The run is over, and its client knows: everything has its place. */
  over(): void {
    const order = this.#order;
    const ids = order.isRestated ? order.ids() : order.idsBehindHistory();
    this.#pending.put(order.rowAtEnd(ids));
    this.#forgetOthers(new Set(ids));
  }

  /** The rows of a run that broke off, or whose client went away: whatever was delivered, or less. */
  cut(shared: SharedState): TraceWrite {
    this.#pending.clear();
    this.shared(shared);
    const records = this.#cutRecords();
    for (const [id, record] of records) this.#pending.put(rowOf("message", id, record));
    const ids = this.#order.idsBehindHistory();
    for (const [id, { behind }] of this.#gone) {
      const place = behind === undefined ? -1 : ids.lastIndexOf(behind);
      ids.splice(place === -1 ? ids.length : place + 1, 0, id);
    }
    this.#pending.put(this.#order.rowMeanwhile(ids));
    // What the client sent it may still have, although a message list that was on its way left it out.
    const kept = new Set([...ids, ...records.keys(), ...this.#order.sent()]);
    this.#forgetOthers(kept, ({ run }) => run !== undefined && run !== this.#facts.runId);
    return this.take() ?? { rows: [], removed: [] };
  }

  #cutRecords(): Map<string, MessageRecord> {
    const records = new Map<string, MessageRecord>();
    const oldest = this.#moment + 1 - remainingPrefixBudget(this.#state.messages.values());
    for (const message of this.#written.keys()) {
      const record = this.#traced(message.id, message.record(oldest));
      const earlier = records.get(message.id);
      records.set(message.id, earlier === undefined ? record : joinRecords(earlier, record));
    }
    for (const [id, { at }] of this.#gone) {
      const record = records.get(id);
      record?.content.push("");
      record?.at?.push(at);
      record?.sizes?.push(0);
    }
    return records;
  }

  /**
   * Before the first message: the client's own have their places from now on, so that those of this run
   * have theirs behind them, whenever the gateway is killed. What the client rolled back is gone for good.
   */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const ids = this.#order.idsBehindHistory();
    this.#pending.put(this.#order.rowMeanwhile(ids));
    this.#forgetOthers(new Set(ids));
  }

  /** When a message of this run began. */
  #enter(message: HeldMessage): void {
    const { id } = message;
    if (!this.#written.has(message)) message.since = this.#moment;
    if (!this.#began.has(id)) this.#began.set(id, this.#moment);
    // It came back: there was a time in between at which it was missing.
    if (this.#gone.has(id)) this.#began.set(id, 0);
    this.#gone.delete(id);
  }

  /** Adds to a fresh record when it was so; but for an older client's thoughts, which may be missing at any time. */
  #traced(id: string, record: MessageRecord): MessageRecord {
    const { isOld, runId } = this.#facts;
    if (isOld && record.role === "reasoning") {
      const { from: _, at: __, ...rest } = record;
      return rest;
    }
    record.run = runId;
    record.from = this.#began.get(id) ?? record.from ?? 0;
    return record;
  }

  #putCallState(id: string, call: CallState): void {
    this.#state.calls.set(id, call);
    this.#pending.put(rowOf("call", id, call));
  }

  /**
   * Forgets what has no place any more: a message that was taken back, by a message list or by rolling back,
   * would otherwise still count as delivered, and could stand behind any new question.
   */
  #forgetOthers(
    ids: ReadonlySet<string>,
    isForgotten: (record: MessageRecord) => boolean = () => true,
  ): void {
    for (const [id, record] of this.#state.messages) {
      if (ids.has(id) || record.role === "activity") continue;
      if (this.#facts.isOld && record.role === "reasoning") continue;
      if (isForgotten(record)) this.#forget(id);
    }
  }

  /** No history has it any more. What the person or their application said stays theirs, should its id come back. */
  #forget(id: string): void {
    const record = this.#state.messages.get(id);
    this.#state.messages.delete(id);
    this.#pending.remove({ kind: "message", id });
    if (record === undefined || isAgents(record.role)) return;
    const { role, content, fields } = record;
    this.#keepShown(id, { role, content, ...(fields === undefined ? {} : { fields }) });
  }

  /** Beyond the bound the newest are not remembered: no client holds them but by a list or an activity of the agent's. */
  #keepShown(id: string, record: MessageRecord): void {
    const { shown } = this.#state;
    if (shown.size >= MAX_MESSAGES && !shown.has(id)) return;
    shown.set(id, record);
    this.#pending.put(rowOf("shown", id, record));
  }
}
