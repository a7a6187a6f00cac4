import { SmallMap } from "@countersign/core";
import type { Interrupt } from "@countersign/wire";
import { assertRoom, MAX_MESSAGES } from "./conversation.js";
import type { ClientCall, ClientMessage } from "./client-message.js";
import { joinRecords } from "./join-records.js";
import { digestOf } from "./digest.js";
import { isAgents } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import { PendingRows } from "./pending-rows.js";
import type { TraceWrite } from "./pending-rows.js";
import { RunOrder } from "./run-order.js";
import type { RunOrderFacts } from "./run-order.js";
import { UNKNOWN_SHARED_STATE } from "./shared-state.js";
import type { SharedState } from "./shared-state.js";
import { interruptShown, messageRowNames, messageRows, rowOf } from "./thread-state.js";
import type { CallState, InterruptState, ThreadState } from "./thread-state.js";

/** Contents kept of messages that share an id. */
const MAX_TWINS = 8;

/** Options of {@link RunChanges}. */
export type RunChangesFacts = RunOrderFacts & {
  /** Tools that the client declared for this run. */
  readonly clientTools: ReadonlySet<string>;
  /** The run began without an answer to the open interrupts. */
  readonly keepsInterrupts: boolean;
};

/** Records the changes of one run to its conversation, as rows for the ledger. */
export class RunChanges {
  readonly #facts: RunChangesFacts;
  readonly #state: ThreadState;
  readonly #order: RunOrder;
  readonly #pending = new PendingRows();
  /** Messages this run wrote into: after a cut run, the client may have any prefix of them. */
  readonly #written = new SmallMap<ClientMessage, true>();
  /** The moment when each message of this run began, and when each removed message was removed. */
  readonly #began = new SmallMap<string, number>();
  readonly #gone = new SmallMap<string, { at: number; behind: string | undefined }>();
  #isBegun = false;
  #moment = 0;

  constructor(facts: RunChangesFacts) {
    this.#facts = facts;
    this.#state = facts.state;
    this.#order = new RunOrder(facts);
  }

  /** The number of events so far; messages of one event have successive moments. */
  get moment(): number {
    return this.#moment;
  }

  /** Starts the next moment. */
  next(): number {
    return (this.#moment += 1);
  }

  /** Rows that must be durable before the events so far are delivered; `undefined` when there are none. */
  take(): TraceWrite | undefined {
    return this.#pending.take();
  }

  /** Records a message that opened, ended or changed; a twin shares its id with another message that stays. */
  put(message: ClientMessage, isTwin = false): void {
    const { id } = message;
    this.#begin();
    // An id keeps its role. Only in observe mode can another role pass: the ledger keeps the first.
    const role = this.#state.messages.get(id)?.role ?? message.role;
    if (role !== message.role) return;
    if (this.#order.isFresh(id)) this.#enter(message);
    this.#written.set(message, true);
    const record = this.#traced(id, message.record());
    const known = this.#state.messages.get(id);
    if (known === undefined) assertRoom(this.#state.messages.size + 1);
    // Two tool results under one id are two messages of the client, and the client did not send every known message.
    const isElsewhere = known !== undefined && !this.#order.sent.has(id);
    if (isTwin || (isElsewhere && known.open !== true && this.#order.known.has(id))) {
      const contents = new Set([...(known?.content ?? []), ...record.content]);
      record.content = [...contents].slice(-MAX_TWINS);
      delete record.at;
      delete record.sizes;
    }
    this.#state.messages.set(id, record);
    for (const row of messageRows(id, record, known)) this.#pending.put(row);
  }

  /** Records a call that opened or ended. */
  putCall(call: ClientCall): void {
    const known = this.#state.calls.get(call.id);
    const isSame = known !== undefined && known.name === call.name;
    const { arguments: meaning, lenient } = call.isOpen ? {} : (call.readings() ?? known ?? {});
    this.#putCallState(call.id, {
      ...(known?.isAnswered === true ? { isAnswered: true } : {}),
      ...(known?.isAgents === true ? { isAgents: true } : {}),
      name: call.name,
      ...(meaning === undefined ? {} : { arguments: meaning }),
      ...(lenient === undefined ? {} : { lenient }),
      // As of the call: a tool that the client declares later was not the client's then.
      isClients: isSame ? known.isClients : this.#isClients(call.name),
    });
    if (meaning !== undefined) this.#useApproval(call.id, call.name, meaning);
  }

  /** Records that a call used an approval: it stays used if the run breaks off and the client repeats its answer. */
  #useApproval(callId: string, name: string, meaning: string): void {
    const interrupts = [...this.#state.interrupts.values()];
    if (interrupts.some(({ usedBy, toolCallId }) => callId === (usedBy ?? toolCallId))) return;
    this.#use(callId, ({ call }) => call?.name === name && call.arguments === meaning);
  }

  /** Records that the agent carried out a call that the person was asked about: it sent the result, or started a subagent for it. */
  carriedOut(callId: string, isSubagent = false): void {
    const { interrupts, calls } = this.#state;
    const asked = [...interrupts.values()];
    if (asked.some(({ usedBy }) => usedBy === callId)) return;
    const isOwn = ({ toolCallId }: InterruptState): boolean => toolCallId === callId;
    // The result of a declined call says that it was declined.
    if (!isSubagent && !asked.some((one) => isOwn(one) && one.isGranted === true)) return;
    const call = calls.get(callId);
    const isEqual = ({ call: other }: InterruptState): boolean =>
      other !== undefined && other.name === call?.name && other.arguments === call.arguments;
    if (!this.#use(callId, isOwn)) this.#use(callId, isEqual);
  }

  /** Marks the first free approval of these interrupts as used. */
  #use(callId: string, isOf: (interrupt: InterruptState) => boolean): boolean {
    const { interrupts } = this.#state;
    for (const [id, interrupt] of interrupts) {
      if (interrupt.isGranted !== true || interrupt.usedBy !== undefined) continue;
      if (!isOf(interrupt)) continue;
      const used = { ...interrupt, usedBy: callId };
      interrupts.set(id, used);
      this.#pending.put(rowOf("interrupt", id, used));
      return true;
    }
    return false;
  }

  #isClients(name: string): boolean {
    return this.#facts.clientTools.has(name) || this.#state.tools.has(digestOf(name));
  }

  /** Records an activity: clients do not send it back, and no later message may use its id. */
  putActivity(id: string, activityType: string): void {
    const known = this.#state.shown.get(id);
    if (known === undefined) this.#keepShown(id, { role: "activity", activityType, content: [] });
    else if (known.activityType !== undefined && known.activityType !== activityType) {
      // A client that did not get the event has the earlier type.
      this.#keepShown(id, { role: "activity", content: [] });
    }
  }

  /** Records that the agent sent the result itself, in an event or in a message list. */
  answered(toolCallId: string): void {
    this.carriedOut(toolCallId);
    const call = this.#state.calls.get(toolCallId);
    if (call === undefined) return;
    this.#putCallState(toolCallId, { ...call, isAnswered: true, isAgents: true });
  }

  /** Called before a message list is applied: a client that does not get the list keeps the messages from before. */
  beforeRestating(replaced: readonly ClientMessage[]): readonly string[] {
    this.#begin();
    for (const message of replaced) this.#written.set(message, true);
    return this.#order.ids();
  }

  /** Called after a message list was applied: records removed messages and the new order. */
  afterRestating(heldBefore: readonly string[]): void {
    this.#order.isRestated = true;
    for (const [index, id] of heldBefore.entries()) {
      if (this.#facts.conversation.has(id) || !this.#began.has(id)) continue;
      this.#gone.set(id, { at: this.#moment, behind: heldBefore[index - 1] });
      this.#forget(id);
    }
    this.#pending.put(this.#order.rowMeanwhile(this.#order.ids()));
  }

  /**
   * Records the interrupts that a run ended with. They replace the earlier ones; a run that began without an answer
   * replaces only those that it asks again.
   */
  asked(interrupts: readonly Interrupt[]): void {
    const { interrupts: open, calls } = this.#state;
    const asked = interrupts.map((one) => interruptShown(one, this.#facts.runId, calls));
    const gone = [...open].filter(
      ([, earlier]) =>
        !this.#facts.keepsInterrupts || asked.some((one) => isSameQuestion(earlier, one)),
    );
    for (const [id] of gone) {
      this.#pending.remove({ kind: "interrupt", id });
      open.delete(id);
    }
    for (const [index, interrupt] of interrupts.entries()) {
      const shown = asked[index] as InterruptState;
      open.set(interrupt.id, shown);
      this.#pending.put(rowOf("interrupt", interrupt.id, shown));
    }
  }

  /** Records the shared states that the client may hold, if there are any now or were before. */
  shared(left: SharedState): void {
    if (left.digests.length === 0 && this.#state.shared.digests.length === 0) return;
    this.#state.shared = left;
    this.#pending.put(rowOf("state", "", left));
  }

  /** Records that the client may hold a state, before the end of the run says which: the gateway may be killed. */
  holdsState(): void {
    if (this.#state.shared.digests.length === 0) this.shared(UNKNOWN_SHARED_STATE);
  }

  /** Records the end of a run whose client got all of it. */
  over(): void {
    const order = this.#order;
    const ids = order.isRestated ? order.ids() : order.idsBehindHistory();
    this.#pending.put(order.rowAtEnd(ids));
    this.#forgetOthers(new Set(ids));
  }

  /**
   * The rows of a run that broke off, or whose client disconnected. `isEnded`: the agent's end of the run was
   * delivered.
   */
  cut(shared: SharedState, isEnded: boolean): TraceWrite {
    this.#pending.clear();
    this.shared(shared);
    const records = this.#cutRecords();
    if (isEnded) for (const record of records.values()) record.ended = true;
    for (const [id, record] of records) {
      for (const row of messageRows(id, record)) this.#pending.put(row);
    }
    const ids = this.#order.idsBehindHistory();
    for (const [id, { behind }] of this.#gone) {
      const place = behind === undefined ? -1 : ids.lastIndexOf(behind);
      ids.splice(place === -1 ? ids.length : place + 1, 0, id);
    }
    this.#pending.put(this.#order.rowMeanwhile(ids));
    // The client may still have the messages it sent, even when the last message list left them out.
    const kept = new Set([...ids, ...records.keys(), ...this.#order.sent.keys()]);
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
   * Writes the order of the client's messages before the first message of this run, so that a killed gateway restarts
   * with the run's messages after them. Removes messages that the client rolled back.
   */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const ids = this.#order.idsBehindHistory();
    this.#pending.put(this.#order.rowMeanwhile(ids));
    this.#forgetOthers(new Set(ids));
  }

  /** Records the moment a message of this run began. */
  #enter(message: ClientMessage): void {
    const { id } = message;
    if (!this.#written.has(message)) message.since = this.#moment;
    if (!this.#began.has(id)) this.#began.set(id, this.#moment);
    // The message was removed and sent again, so it may be missing.
    if (this.#gone.has(id)) this.#began.set(id, 0);
    this.#gone.delete(id);
  }

  /**
   * Adds the run and the start to a new record, except the reasoning of an older client, which may be missing at any
   * time.
   */
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
   * Removes messages without a position: they would count as delivered, and a client could send them at any position.
   */
  #forgetOthers(
    ids: ReadonlySet<string>,
    isForgotten: (record: MessageRecord) => boolean = () => true,
  ): void {
    // A copy: a client without an input has one table for its messages and those shown, and `#forget` adds to the second.
    const known = [...this.#state.messages];
    for (const [id, record] of known) {
      if (ids.has(id) || record.role === "activity") continue;
      if (this.#facts.isOld && record.role === "reasoning") continue;
      if (isForgotten(record)) this.#forget(id);
    }
  }

  /** Removes a message from the history. A message of the person stays known as theirs, in case its id returns. */
  #forget(id: string): void {
    const record = this.#state.messages.get(id);
    this.#state.messages.delete(id);
    for (const name of messageRowNames(id, record)) this.#pending.remove(name);
    if (record === undefined || isAgents(record.role)) return;
    const { role, content, fields } = record;
    this.#keepShown(id, { role, content, ...(fields === undefined ? {} : { fields }) });
  }

  /** Above the bound new ones are not kept: a client can get them only from a list or an activity of the agent. */
  #keepShown(id: string, record: MessageRecord): void {
    const { shown } = this.#state;
    if (shown.size >= MAX_MESSAGES && !shown.has(id)) return;
    shown.set(id, record);
    this.#pending.put(rowOf("shown", id, record));
  }
}

/** Prefixes kept of all texts of a cut run: a client is rarely further behind. */
const MAX_OF_RUN = 16_384;
/** Prefixes kept of a thread, about five megabytes, until its client shows which of them it has. */
const MAX_OF_THREAD = 65_536;

/** The number of prefixes that a cut run may add to its thread. */
export function remainingPrefixBudget(records: Iterable<MessageRecord>): number {
  let left = MAX_OF_THREAD;
  for (const { content, calls } of records) {
    left -= content.length - 1;
    for (const call of calls ?? []) left -= call.arguments.length - 1;
  }
  return Math.max(0, Math.min(left, MAX_OF_RUN));
}

/** Whether a later question stands for an earlier one: it is about the same call, or the earlier one was about none. */
function isSameQuestion(earlier: InterruptState, later: InterruptState): boolean {
  if (earlier.toolCallId === undefined) return true;
  if (earlier.toolCallId === later.toolCallId) return true;
  return (
    earlier.call !== undefined &&
    earlier.call.name === later.call?.name &&
    earlier.call.arguments === later.call.arguments
  );
}
