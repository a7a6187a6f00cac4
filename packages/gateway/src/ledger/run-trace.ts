import { SmallMap } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, EventOf, Interrupt, Message, RunAgentInput } from "@countersign/wire";
import { clientToolsOf } from "../classify/client-tools.js";
import { assertRoom, Conversation } from "./conversation.js";
import { HeldCall } from "./held-message.js";
import type { HeldMessage } from "./held-message.js";
import { joinRecords } from "./join-records.js";
import type { LedgerName, LedgerRow } from "./ledger.js";
import { recordOf } from "./message-record.js";
import type { MessageRecord } from "./message-record.js";
import { orderRow, rowOf } from "./thread-state.js";
import type { CallState, InterruptState, ThreadState } from "./thread-state.js";

/** Rows to put and names to remove, together. */
export type TraceWrite = { readonly rows: LedgerRow[]; readonly removed: LedgerName[] };

/**
 * What one run leaves in its client's hands, told from the events that are delivered.
 *
 * A delta costs one append to a list. What must be known before the client can repeat it (a message that
 * opens or ends, a call, an answer, an interrupt) becomes rows, taken with `take`.
 */
export class RunTrace {
  readonly #conversation: Conversation;
  readonly #state: ThreadState;
  readonly #runId: string;
  readonly #clientTools: ReadonlySet<string>;
  readonly #isOld: boolean;
  /** What the client had when it asked, and what it is known to have had before. */
  readonly #before: SmallMap<string, true>;
  readonly #ordered: SmallMap<string, true>;
  /** Messages this run wrote into: of a cut run, the client may have any beginning of them. */
  readonly #written = new SmallMap<HeldMessage, true>();
  readonly #rows = new SmallMap<string, LedgerRow>();
  #removed: LedgerName[] = [];
  #restated = false;
  #isBegun = false;
  /** How many events were seen. Messages that come in one event come one after the other. */
  #moment = 0;
  /** When each message of this run began, and when one was taken back. */
  readonly #began = new SmallMap<string, number>();
  readonly #gone = new SmallMap<string, { at: number; behind: string | undefined }>();
  /** Whether the agent said how the run ended. */
  isOver = false;

  /**
   * @param isOld the client is older than 1.0: those versions disagree about which reasoning survives a
   * message list, so theirs may be there or not
   */
  constructor(input: RunAgentInput, state: ThreadState, isOld = false) {
    this.#isOld = isOld;
    this.#conversation = new Conversation(input.messages);
    this.#state = state;
    this.#runId = input.runId;
    this.#clientTools = clientToolsOf(input);
    this.#before = tableOf(input.messages.map(({ id }) => id));
    this.#ordered = tableOf(state.order);
  }

  /** Takes note of an event that is about to be delivered. */
  see(event: AgUiEvent): void {
    this.#moment += 1;
    switch (event.type) {
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT":
        return this.#content(event);
      case "TOOL_CALL_ARGS": {
        const found = this.#conversation.findCall(event.toolCallId);
        found?.call.arguments.append(event.delta, this.#moment);
        found?.call.annotate(event);
        return undefined;
      }
      case "TEXT_MESSAGE_START":
      case "REASONING_MESSAGE_START":
        return this.#start(event);
      case "TEXT_MESSAGE_END":
      case "REASONING_MESSAGE_END":
        return this.#end(event);
      case "TOOL_CALL_START":
        return this.#startCall(event);
      case "TOOL_CALL_END":
        return this.#endCall(event);
      case "TOOL_CALL_RESULT":
        return this.#answer(event);
      case "REASONING_ENCRYPTED_VALUE":
        return this.#encrypted(event);
      case "ACTIVITY_SNAPSHOT":
        return this.#activity(event);
      case "MESSAGES_SNAPSHOT":
        return this.#restate(event);
      case "RUN_STARTED":
        this.isOver = false;
        for (const message of event.input?.messages ?? []) {
          if (this.#conversation.has(message.id)) continue;
          this.#moment += 1;
          this.#put(this.#conversation.append(message));
        }
        return undefined;
      case "RUN_FINISHED":
        return this.#finish(event);
      case "RUN_ERROR":
        return this.#over();
      default:
        return undefined;
    }
  }

  /** What has to be durable before the events seen so far are delivered; empty when nothing has. */
  take(): TraceWrite | undefined {
    if (this.#rows.size === 0 && this.#removed.length === 0) return undefined;
    const write = { rows: [...this.#rows.values()], removed: this.#removed };
    this.#rows.clear();
    this.#removed = [];
    return write;
  }

  /** The rows of a run that broke off, or whose client went away: whatever was delivered, or less. */
  cut(): TraceWrite {
    this.#rows.clear();
    this.#removed = [];
    const records = new Map<string, MessageRecord>();
    for (const message of this.#written.keys()) {
      const record = this.#traced(message.id, message.record(true));
      const earlier = records.get(message.id);
      records.set(message.id, earlier === undefined ? record : joinRecords(earlier, record));
    }
    for (const [id, record] of records) {
      const gone = this.#gone.get(id);
      if (gone !== undefined) record.content.push("");
      if (gone !== undefined) record.at?.push(gone.at);
      this.#putRow(rowOf("message", id, record));
    }
    const ids = this.#behindHistory(this.#ids());
    for (const [id, { behind }] of this.#gone) {
      const place = behind === undefined ? -1 : ids.lastIndexOf(behind);
      ids.splice(place === -1 ? ids.length : place + 1, 0, id);
    }
    this.#putOrder(ids);
    // What the client sent it may still have, although a message list that was on its way left it out.
    const kept = new Set([...ids, ...records.keys(), ...this.#before.keys()]);
    this.#forgetOthers(kept, ({ run }) => run !== undefined && run !== this.#runId);
    return this.take() ?? { rows: [], removed: [] };
  }

  /**
   * Before the first message: the client's own have their places from now on, so that those of this run
   * have theirs behind them, whenever the gateway is killed. What the client rolled back is gone for good.
   */
  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const ids = this.#behindHistory(this.#ids());
    this.#putOrder(ids);
    this.#forgetOthers(new Set(ids));
  }

  /** Where everything stands while the run goes on; what it delivered so far may not have arrived. */
  #putOrder(ids: readonly string[]): void {
    const isLoose = (id: string): boolean => this.#isLoose(id) || this.#isFresh(id);
    this.#putRow(orderRow(ids, this.#firstOf(ids), isLoose, this.#runId));
  }

  /** Where the messages of this run begin. */
  #firstOf(ids: readonly string[]): number {
    const first = ids.findIndex((id) => this.#isFresh(id));
    return first === -1 ? ids.length : first;
  }

  /** A record with when it was so; but for an older client's thoughts, which may be missing at any time. */
  #traced(id: string, record: MessageRecord): MessageRecord {
    if (this.#isOld && record.role === "reasoning") {
      const { from: _, at: __, ...rest } = record;
      return rest;
    }
    return { ...record, run: this.#runId, from: this.#began.get(id) ?? record.from ?? 0 };
  }

  #content(event: EventOf<"TEXT_MESSAGE_CONTENT"> | EventOf<"REASONING_MESSAGE_CONTENT">): void {
    const message = this.#target(event.messageId);
    if (message === undefined) return;
    message.text.append(event.delta, this.#moment);
    message.annotate(event);
  }

  #start(event: EventOf<"TEXT_MESSAGE_START"> | EventOf<"REASONING_MESSAGE_START">): void {
    if (this.#conversation.roleOf(event.messageId) === "activity") return;
    const message =
      this.#conversation.find(event.messageId) ?? this.#conversation.append(opened(event));
    message.annotate(event);
    message.isOpen = true;
    this.#put(message);
  }

  #end(event: EventOf<"TEXT_MESSAGE_END"> | EventOf<"REASONING_MESSAGE_END">): void {
    const message = this.#target(event.messageId);
    if (message === undefined) return;
    message.annotate(event);
    message.isOpen = false;
    this.#put(message);
  }

  #startCall(event: EventOf<"TOOL_CALL_START">): void {
    const known = this.#conversation.findCall(event.toolCallId);
    const message = known?.message ?? this.#carrierOf(event);
    const call =
      known?.call ?? new HeldCall(event.toolCallId, event.toolCallName, "", this.#moment);
    if (known === undefined) this.#conversation.addCall(message, call);
    call.name = event.toolCallName;
    call.isOpen = true;
    call.annotate(event);
    this.#put(message);
    this.#putCall(call);
  }

  #endCall(event: EventOf<"TOOL_CALL_END">): void {
    const found = this.#conversation.findCall(event.toolCallId);
    if (found === undefined) return;
    found.call.annotate(event);
    found.call.isOpen = false;
    this.#put(found.message);
    this.#putCall(found.call);
  }

  #answer(event: EventOf<"TOOL_CALL_RESULT">): void {
    const { messageId, toolCallId, content, subagentRunId } = event;
    const source: Message = {
      id: messageId,
      role: "tool",
      toolCallId,
      content,
      ...(subagentRunId === undefined ? {} : { subagentRunId }),
    };
    const twin = this.#conversation.has(messageId);
    const message = this.#conversation.insertAnswer(source, toolCallId);
    message.annotate(event);
    this.#put(message, twin);
    this.#answered(toolCallId);
  }

  /** The agent answered the call itself, in an event or in a message list. */
  #answered(toolCallId: string): void {
    const call = this.#state.calls.get(toolCallId);
    if (call === undefined) return;
    this.#putState(toolCallId, { ...call, isAnswered: true, isAgents: true });
  }

  #encrypted(event: EventOf<"REASONING_ENCRYPTED_VALUE">): void {
    const isCall = event.subtype === "tool-call";
    const found = isCall ? this.#conversation.findCall(event.entityId) : undefined;
    const message = isCall ? found?.message : this.#target(event.entityId);
    const holder = isCall ? found?.call : message;
    if (message === undefined || holder === undefined) return;
    holder.fields["encryptedValue"] = event.encryptedValue;
    this.#put(message);
  }

  #activity(event: EventOf<"ACTIVITY_SNAPSHOT">): void {
    const { messageId: id, activityType, content } = event;
    const source: Message = { id, role: "activity", activityType, content };
    if (!this.#conversation.has(id)) this.#conversation.append(source);
    else if (event.replace !== false) this.#conversation.replace(source);
  }

  #restate(event: EventOf<"MESSAGES_SNAPSHOT">): void {
    this.#begin();
    const held = this.#ids();
    const { messages } = event;
    const hasReasoning = messages.some(({ role }) => role === "reasoning");
    const fresh = messages.filter(
      (message) => !isSame(this.#conversation.untouched(message.id), message),
    );
    for (const { id, role } of fresh) {
      // Whoever does not get this list holds what was there before.
      const before = role === "activity" ? undefined : this.#target(id);
      if (before !== undefined) this.#written.set(before, true);
    }
    this.#conversation.restate(
      messages,
      // Which activities stay does not matter here: none of them is sent back.
      ({ role }) => role === "activity" || (role === "reasoning" && (this.#isOld || !hasReasoning)),
    );
    this.#restated = true;
    for (const { id, role } of fresh) {
      const message = role === "activity" ? undefined : this.#conversation.find(id);
      if (message === undefined) continue;
      message.since = this.#moment += 1;
      this.#put(message, this.#isOld && role === "reasoning");
      for (const call of message.calls) this.#putCall(call);
    }
    for (const [index, id] of held.entries()) {
      if (this.#conversation.has(id) || !this.#began.has(id)) continue;
      this.#gone.set(id, { at: this.#moment, behind: held[index - 1] });
      this.#forget(id);
    }
    this.#putOrder(this.#ids());
    for (const message of fresh) if (message.role === "tool") this.#answered(message.toolCallId);
  }

  #finish(event: EventOf<"RUN_FINISHED">): void {
    // The client forgets what it was asked before, whatever this outcome is.
    for (const id of this.#state.interrupts.keys()) this.#removed.push({ kind: "interrupt", id });
    this.#state.interrupts.clear();
    const { outcome } = event;
    for (const interrupt of outcome?.type === "interrupt" ? outcome.interrupts : []) {
      const shown = this.#interruptState(interrupt);
      this.#state.interrupts.set(interrupt.id, shown);
      this.#putRow(rowOf("interrupt", interrupt.id, shown));
    }
    this.#over();
  }

  #over(): void {
    this.isOver = true;
    const held = this.#ids();
    const ids = this.#restated ? held : this.#behindHistory(held);
    this.#putRow(orderRow(ids, this.#firstOf(ids), (id) => this.#isLoose(id)));
    this.#forgetOthers(new Set(ids));
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
      if (ids.has(id) || (this.#isOld && record.role === "reasoning")) continue;
      if (isForgotten(record)) this.#forget(id);
    }
  }

  #forget(id: string): void {
    this.#state.messages.delete(id);
    this.#rows.delete(`message\n${id}`);
    this.#removed.push({ kind: "message", id });
  }

  /** Who is where; after a message list, older clients disagree about the places of thoughts. */
  #ids(): string[] {
    const ids = this.#conversation.ids();
    if (!this.#isOld || !this.#restated) return ids;
    return ids.filter((id) => this.#conversation.roleOf(id) !== "reasoning");
  }

  /** Whether a message came with this run. */
  #isFresh(id: string): boolean {
    return !this.#before.has(id) && !this.#ordered.has(id);
  }

  /** Whether the client may be without it: what it has sent once it has, but for an older client's thoughts. */
  #isLoose(id: string): boolean {
    if (this.#isOld && this.#conversation.roleOf(id) === "reasoning") return true;
    return this.#state.loose.has(id) && !this.#before.has(id);
  }

  #interruptState(interrupt: Interrupt): InterruptState {
    const { toolCallId, responseSchema, expiresAt } = interrupt;
    const call = toolCallId === undefined ? undefined : this.#state.calls.get(toolCallId);
    return {
      runId: this.#runId,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(call?.arguments === undefined
        ? {}
        : { call: { name: call.name, arguments: call.arguments } }),
      ...(responseSchema === undefined ? {} : { responseSchema: responseSchema as JsonObject }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  }

  /** The part of the history that the client did not send this time, then what it holds now. */
  #behindHistory(held: readonly string[]): string[] {
    const mine = new Set(held);
    const first = this.#state.order.findIndex((id) => mine.has(id));
    const unsent = first === -1 ? this.#state.order : this.#state.order.slice(0, first);
    return [...unsent, ...held];
  }

  #target(id: string): HeldMessage | undefined {
    return this.#conversation.roleOf(id) === "activity" ? undefined : this.#conversation.find(id);
  }

  /** Where the client puts a call: its parent, else a message of its own under the call's id. */
  #carrierOf(event: EventOf<"TOOL_CALL_START">): HeldMessage {
    const { toolCallId, subagentRunId } = event;
    const parent = event.parentMessageId === "" ? undefined : event.parentMessageId;
    const role = parent === undefined ? undefined : this.#conversation.roleOf(parent);
    if (parent !== undefined && role === "assistant") {
      const message = this.#conversation.find(parent);
      if (message !== undefined) return message;
    }
    const id = parent === undefined || role !== undefined ? toolCallId : parent;
    const owner = subagentRunId === undefined ? {} : { subagentRunId };
    return this.#conversation.append({ id, role: "assistant", ...owner });
  }

  #put(message: HeldMessage, isTwin = false): void {
    const { id } = message;
    this.#begin();
    if (this.#isFresh(id)) {
      if (!this.#written.has(message)) message.since = this.#moment;
      if (!this.#began.has(id)) this.#began.set(id, this.#moment);
      // It came back: there was a time in between at which it was missing.
      if (this.#gone.has(id)) this.#began.set(id, 0);
      this.#gone.delete(id);
    }
    this.#written.set(message, true);
    const record = this.#traced(id, message.record());
    const known = this.#state.messages.get(message.id);
    if (known === undefined) assertRoom(this.#state.messages.size + 1);
    // Two answers under one id are two messages of the client, and it did not send every known message.
    const isElsewhere = known !== undefined && !this.#before.has(message.id);
    if (isTwin || (isElsewhere && known.open !== true && this.#ordered.has(message.id))) {
      record.content = [...new Set([...(known?.content ?? []), ...record.content])].slice(-8);
      delete record.at;
    }
    this.#state.messages.set(message.id, record);
    this.#putRow(rowOf("message", message.id, record));
  }

  #putCall(call: HeldCall): void {
    const known = this.#state.calls.get(call.id);
    this.#putState(call.id, {
      ...(known?.isAnswered === true ? { isAnswered: true } : {}),
      ...(known?.isAgents === true ? { isAgents: true } : {}),
      name: call.name,
      ...(call.isOpen ? {} : { arguments: call.arguments.meaning() }),
      // As it was when it was called: a tool that is declared later was not the client's then.
      isClients: known?.isClients ?? this.#clientTools.has(call.name),
    });
  }

  #putState(id: string, state: CallState): void {
    this.#state.calls.set(id, state);
    this.#putRow(rowOf("call", id, state));
  }

  #putRow(row: LedgerRow): void {
    // What was taken back comes again, before anybody wrote that it was.
    if (this.#removed.length > 0) {
      this.#removed = this.#removed.filter(({ kind, id }) => kind !== row.kind || id !== row.id);
    }
    this.#rows.set(`${row.kind}\n${row.id}`, row);
  }
}

function tableOf(ids: readonly string[]): SmallMap<string, true> {
  const table = new SmallMap<string, true>();
  for (const id of ids) table.set(id, true);
  return table;
}

function opened(
  event: EventOf<"TEXT_MESSAGE_START"> | EventOf<"REASONING_MESSAGE_START">,
): Message {
  const { messageId: id, subagentRunId } = event;
  const owner = subagentRunId === undefined ? {} : { subagentRunId };
  if (event.type === "REASONING_MESSAGE_START")
    return { id, role: "reasoning", content: "", ...owner };
  const { role = "assistant", name } = event;
  return { id, role, content: "", ...(name === undefined ? {} : { name }), ...owner };
}

function isSame(known: Message | undefined, message: Message): boolean {
  if (known === undefined) return false;
  return known === message || JSON.stringify(recordOf(known)) === JSON.stringify(recordOf(message));
}
