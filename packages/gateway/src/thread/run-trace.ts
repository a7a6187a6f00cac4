import type { AgUiEvent, EventOf, Message, RunAgentInput } from "@countersign/wire";
import { Conversation } from "./conversation.js";
import { ClientCall } from "./client-message.js";
import type { ClientMessage } from "./client-message.js";
import { clientPlaces } from "./earlier-thread.js";
import type { TraceWrite } from "./pending-rows.js";
import { RunChanges } from "./run-changes.js";
import { RunState } from "./run-state.js";
import { isEmptyState } from "./shared-state.js";
import type { SharedState } from "./shared-state.js";
import { declaredTools } from "./thread-state.js";
import type { ThreadState } from "./thread-state.js";

/**
 * Tracks the messages that one run leaves at its client, from the delivered events.
 *
 * A delta costs one append to a list. Facts that the ledger needs before the client can repeat them
 * (a message that opens or ends, a call, a tool result, an interrupt) become rows, returned by
 * `take`.
 */
export class RunTrace {
  readonly #conversation: Conversation;
  readonly #state: ThreadState;
  readonly #changes: RunChanges;
  readonly #sentState: RunAgentInput["state"];
  readonly #isStateTaken: boolean;
  readonly #earlierState: SharedState;
  /** Created with the first event about it: most runs have none. */
  #shared: RunState | undefined;
  readonly #isOld: boolean;
  /** True when the agent sent the end of the run. */
  isOver = false;

  /**
   * @param isOld the client is older than 1.0: those versions disagree about which reasoning
   * survives a message list, so reasoning may be missing
   * @param isStateTaken the policy allowed the state in the input; false when it would have blocked
   * in observe mode
   * @param isHistoryChecked see {@link clientPlaces}
   * @param keepsInterrupts the request answered nothing: interrupts that the run does not repeat
   * stay open
   */
  constructor(
    input: RunAgentInput,
    state: ThreadState,
    { isOld = false, isStateTaken = true, isHistoryChecked = true, keepsInterrupts = false } = {},
  ) {
    this.#isOld = isOld;
    this.#isStateTaken = isStateTaken;
    this.#state = state;
    this.#sentState = input.state;
    this.#earlierState = state.shared;
    const places = clientPlaces(state, input.messages, isHistoryChecked);
    this.#conversation = new Conversation(places, input.messages);
    this.#changes = new RunChanges({
      conversation: this.#conversation,
      state,
      sent: input.messages.map(({ id }) => id),
      runId: input.runId,
      isOld,
      keepsInterrupts,
      clientTools: declaredTools(input),
    });
    if (!isEmptyState(input.state)) this.#changes.holdsState();
  }

  /** Tracks an event that is about to be delivered. */
  see(event: AgUiEvent): void {
    this.#changes.next();
    switch (event.type) {
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT":
        return this.#content(event);
      case "TOOL_CALL_ARGS": {
        const found = this.#conversation.findCall(event.toolCallId);
        found?.call.arguments.append(event.delta, this.#changes.moment);
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
      case "SUBAGENT_STARTED":
        if (event.parentToolCallId !== undefined) {
          this.#changes.carriedOut(event.parentToolCallId, true);
        }
        return undefined;
      case "REASONING_ENCRYPTED_VALUE":
        return this.#encrypted(event);
      case "ACTIVITY_SNAPSHOT":
        return this.#activity(event);
      case "ACTIVITY_DELTA":
        if (this.#roleOf(event.messageId) === "activity") {
          this.#changes.putActivity(event.messageId, event.activityType);
        }
        return undefined;
      case "MESSAGES_SNAPSHOT":
        return this.#restate(event);
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
        this.#shared ??= this.#openState();
        this.#changes.holdsState();
        return this.#shared.see(event);
      case "RUN_STARTED":
        this.isOver = false;
        for (const message of event.input?.messages ?? []) {
          if (this.#conversation.has(message.id)) continue;
          this.#changes.next();
          this.#changes.put(this.#conversation.append(message));
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

  /** Rows that must be durable before the events so far are delivered; `undefined` when there are none. */
  take(): TraceWrite | undefined {
    return this.#changes.take();
  }

  /** The rows of a run that broke off, or whose client disconnected: the client has the delivered events, or fewer. */
  cut(): TraceWrite {
    return this.#changes.cut(this.#sharedState(true), this.isOver);
  }

  #sharedState(isCut: boolean): SharedState {
    return (this.#shared ?? this.#openState()).left(isCut);
  }

  #openState(): RunState {
    return new RunState(this.#sentState, this.#isStateTaken, this.#earlierState);
  }

  #content(event: EventOf<"TEXT_MESSAGE_CONTENT"> | EventOf<"REASONING_MESSAGE_CONTENT">): void {
    const message = this.#target(event.messageId);
    if (message === undefined) return;
    message.text.append(event.delta, this.#changes.moment);
    message.annotate(event);
  }

  #start(event: EventOf<"TEXT_MESSAGE_START"> | EventOf<"REASONING_MESSAGE_START">): void {
    if (this.#conversation.roleOf(event.messageId) === "activity") return;
    const message =
      this.#conversation.find(event.messageId) ?? this.#conversation.append(opened(event));
    message.annotate(event);
    message.isOpen = true;
    this.#changes.put(message);
  }

  #end(event: EventOf<"TEXT_MESSAGE_END"> | EventOf<"REASONING_MESSAGE_END">): void {
    const message = this.#target(event.messageId);
    if (message === undefined) return;
    message.annotate(event);
    message.isOpen = false;
    this.#changes.put(message);
  }

  #startCall(event: EventOf<"TOOL_CALL_START">): void {
    const known = this.#conversation.findCall(event.toolCallId);
    const message = known?.message ?? this.#parentOf(event);
    const call =
      known?.call ?? new ClientCall(event.toolCallId, event.toolCallName, "", this.#changes.moment);
    if (known === undefined) this.#conversation.addCall(message, call);
    call.name = event.toolCallName;
    call.isOpen = true;
    call.annotate(event);
    this.#changes.put(message);
    this.#changes.putCall(call);
  }

  #endCall(event: EventOf<"TOOL_CALL_END">): void {
    const found = this.#conversation.findCall(event.toolCallId);
    if (found === undefined) return;
    found.call.annotate(event);
    found.call.isOpen = false;
    this.#changes.put(found.message);
    this.#changes.putCall(found.call);
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
    const message = this.#conversation.insertToolResult(source, toolCallId);
    message.annotate(event);
    this.#changes.put(message, twin);
    this.#changes.answered(toolCallId);
  }

  #encrypted(event: EventOf<"REASONING_ENCRYPTED_VALUE">): void {
    const isCall = event.subtype === "tool-call";
    const found = isCall ? this.#conversation.findCall(event.entityId) : undefined;
    const message = isCall ? found?.message : this.#target(event.entityId);
    const holder = isCall ? found?.call : message;
    if (message === undefined || holder === undefined) return;
    holder.fields["encryptedValue"] = event.encryptedValue;
    // The type belongs to its value.
    if (event.encryptedValueType === undefined) delete holder.fields["encryptedValueType"];
    else holder.fields["encryptedValueType"] = event.encryptedValueType;
    this.#changes.put(message);
  }

  #activity(event: EventOf<"ACTIVITY_SNAPSHOT">): void {
    const { messageId: id, activityType, content } = event;
    const source: Message = { id, role: "activity", activityType, content };
    const isNew = !this.#conversation.has(id);
    if (event.replace !== false || (isNew && !this.#state.shown.has(id))) {
      this.#changes.putActivity(id, activityType);
    }
    if (isNew) this.#conversation.append(source);
    else if (event.replace !== false) this.#conversation.replace(source);
  }

  #restate({ messages }: EventOf<"MESSAGES_SNAPSHOT">): void {
    const changes = this.#changes;
    const hasReasoning = messages.some(({ role }) => role === "reasoning");
    const fresh = messages.filter((message) => !this.#conversation.holds(message));
    const spoken = fresh.filter(({ role }) => role !== "activity");
    for (const message of fresh) {
      if (message.role === "activity") changes.putActivity(message.id, message.activityType);
    }
    const heldBefore = changes.beforeRestating(spoken.flatMap(({ id }) => this.#target(id) ?? []));
    this.#conversation.restate(
      messages,
      // Activities do not matter here: clients do not send them back.
      ({ role }) => role === "activity" || (role === "reasoning" && (this.#isOld || !hasReasoning)),
    );
    for (const { id, role } of spoken) {
      const message = this.#conversation.find(id);
      if (message === undefined) continue;
      message.since = changes.next();
      changes.put(message, this.#isOld && role === "reasoning");
      for (const call of message.calls) changes.putCall(call);
    }
    changes.afterRestating(heldBefore);
    for (const message of fresh) {
      if (message.role === "tool" && !this.#isClientsAnswer(message.toolCallId))
        changes.answered(message.toolCallId);
    }
  }

  /** True when the client answered the call: a list that repeats the result does not make the tool the agent's. */
  #isClientsAnswer(toolCallId: string): boolean {
    const call = this.#state.calls.get(toolCallId);
    return call?.isClients === true && call.isAnswered === true && call.isAgents !== true;
  }

  #finish({ outcome }: EventOf<"RUN_FINISHED">): void {
    this.#changes.asked(outcome?.type === "interrupt" ? outcome.interrupts : []);
    this.#over();
  }

  #over(): void {
    this.isOver = true;
    this.#changes.shared(this.#sharedState(false));
    this.#changes.over();
  }

  #target(id: string): ClientMessage | undefined {
    return this.#conversation.roleOf(id) === "activity" ? undefined : this.#conversation.find(id);
  }

  /** The role of a client's message, also of one that no request repeats. */
  #roleOf(id: string): Message["role"] | undefined {
    const { messages, shown } = this.#state;
    return this.#conversation.roleOf(id) ?? messages.get(id)?.role ?? shown.get(id)?.role;
  }

  /** The message that the client adds a call to: its parent, else a new message under the call's id. */
  #parentOf(event: EventOf<"TOOL_CALL_START">): ClientMessage {
    const { toolCallId, subagentRunId } = event;
    const parent = event.parentMessageId === "" ? undefined : event.parentMessageId;
    const role = parent === undefined ? undefined : this.#roleOf(parent);
    if (parent !== undefined && role === "assistant") {
      const message = this.#conversation.find(parent);
      if (message !== undefined) return message;
    }
    const id = parent === undefined || role !== undefined ? toolCallId : parent;
    const owner = subagentRunId === undefined ? {} : { subagentRunId };
    return this.#conversation.append({ id, role: "assistant", ...owner });
  }
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
