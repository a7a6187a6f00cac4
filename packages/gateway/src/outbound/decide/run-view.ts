import { assertWithin, canonicalJson, sha256Hex, SmallMap } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Decision } from "@countersign/policy";
import type { AgUiEvent, Message, ToolMessage } from "@countersign/wire";
import type { Run } from "../../event/run.js";
import type { UnitKey, UnitPlace } from "../../event/unit.js";
import { withheldBy } from "../../event/withheld-register.js";
import type { WithheldRegister } from "../../event/withheld-register.js";
import { denialIn } from "./denial.js";
import { digestOf } from "../../thread/digest.js";
import type { EarlierThread } from "../../thread/earlier-thread.js";
import { asRecorded, isAgents } from "../../thread/message-record.js";
import type { MessageRecord } from "../../thread/message-record.js";

/** The limit of messages and calls per run. At the limit the run ends, because the rules need all of them. */
const MAX_KNOWN = 100_000;

/** Marks a message to which no text may be appended. */
const NEVER = -1;

/** A call of the run, and whether the client has it. */
type Call = { readonly name: string; isDelivered: boolean };

type RunViewFacts = Pick<Run, "input" | "earlier">;

type Answer = Pick<ToolMessage, "toolCallId" | "content">;

/**
 * The messages, calls and open units that the client has, from its request, from this stream, or from the ledger of the thread. Decide
 * updates the view with each delivered event.
 *
 * `CallMemory` of classify is separate: it has the calls that arrived, and runs ahead of decide while events wait for a budget. A decision
 * must not depend on how far ahead it is.
 */
export class RunView {
  /** The rest of the thread: ids, roles and digests, without text. */
  readonly #earlier: EarlierThread;
  readonly #roles = new SmallMap<string, Message["role"]>();
  // Created when first needed: most runs have only text, and an empty map takes 200 bytes.
  #calls: Map<string, Call> | undefined;
  /** Complete calls: a message list contained them, or their end was delivered. */
  #whole: Set<string> | undefined;
  /** Messages of the person or their application, which no agent may change. */
  #originals: SmallMap<string, Message> | undefined;
  /** The number of delivered message lists. */
  #lists = 0;
  /**
   * For each message, the number of lists before its exact text was known; {@link NEVER} if it is not known. A list replaces the client's
   * messages, differently in each client version, so no text may be appended after one.
   */
  readonly #exact = new SmallMap<string, number>();
  /** The call that each tool message answers, and a digest of the result. */
  #answers: Map<string, { toolCallId: string; digest: string }> | undefined;
  /** The results of the request, by the same digest; created by the first list that needs them. */
  #sent: Map<string, ToolMessage> | undefined;

  /** The units that are open on the client: every delivered start gets its end. */
  readonly #open = new SmallMap<string, true>();
  /** Steps that are withheld. */
  #steps: Set<UnitKey> | undefined;
  readonly #register: WithheldRegister;
  readonly #observes: boolean;

  /** A run of the stream ended by asking the person. */
  hasAsked = false;

  /** @param observes whether a unit that would have been withheld is remembered as if it were */
  constructor({ input, earlier }: RunViewFacts, register: WithheldRegister, observes: boolean) {
    this.#earlier = earlier;
    this.#register = register;
    this.#observes = observes;
    for (const message of input.messages) {
      const { id, role } = message;
      this.#exact.set(id, this.#exact.has(id) ? NEVER : 0);
      this.#addMessage(message);
      if (isAgents(role)) continue;
      if (this.#roles.get(id) === role && this.#originals?.has(id) !== true) {
        this.#originals ??= new SmallMap();
        this.#originals.set(id, message);
      }
    }
  }

  /** Whether a message with this id is known in this role. */
  hasMessage({ id, role }: Message): boolean {
    return this.roleOf(id) === role;
  }

  /** The known role of a message. */
  roleOf(messageId: string): Message["role"] | undefined {
    return this.#roles.get(messageId) ?? this.#earlier.messages.get(messageId)?.role;
  }

  /** Whether text may not be appended to a message: the client has a message with this id, and the gateway does not know its exact text. */
  isClosed(messageId: string): boolean {
    const known = this.#exact.get(messageId);
    return known === undefined ? this.#earlier.messages.has(messageId) : known !== this.#lists;
  }

  /** Whether a message is one of the thread that the request does not repeat. */
  isEarlier(messageId: string): boolean {
    return this.#earlier.messages.has(messageId);
  }

  /** The record of a message on the thread that the request does not repeat and that an agent could not have sent. */
  recordOf(messageId: string): MessageRecord | undefined {
    const record = this.#earlier.messages.get(messageId);
    return record === undefined || isAgents(record.role) ? undefined : record;
  }

  /** Whether a list changes or leaves out messages of the person that the gateway cannot restore, because it has only their digests. */
  losesWords(list: readonly Message[]): boolean {
    const { words, messages } = this.#earlier;
    if (words.size === 0) return false;
    const same = new Set<string>();
    for (const message of list) {
      const record = words.has(message.id) ? messages.get(message.id) : undefined;
      if (record !== undefined && asRecorded(message, record) !== undefined) same.add(message.id);
    }
    return same.size < words.size;
  }

  /** The message with this id in the request, if an agent could not have sent it. */
  original(messageId: string): Message | undefined {
    return this.#originals?.get(messageId);
  }

  /**
   * The result of the request that a listed message repeats under a new id: the same call, content and error. TanStack AI's server gives
   * new ids to the results in its lists.
   */
  repeatedAnswer(message: Message): ToolMessage | undefined {
    if (message.role !== "tool" || this.roleOf(message.id) !== undefined) return undefined;
    this.#sent ??= new Map(
      [...(this.#originals?.values() ?? [])].flatMap((sent) =>
        sent.role === "tool" ? [[digestOfAnswer(sent), sent] as const] : [],
      ),
    );
    const sent = this.#sent.get(digestOfAnswer(message));
    return sent?.error === message.error ? sent : undefined;
  }

  /** Whether a tool message is known with exactly this result. */
  hasAnswer({ id, toolCallId, content }: ToolMessage): boolean {
    return this.#answers?.get(id)?.digest === digestOfAnswer({ toolCallId, content });
  }

  /** The call that a known tool message answers. */
  answeredCall(messageId: string): string | undefined {
    return this.#answers?.get(messageId)?.toolCallId;
  }

  /** Whether a result has the id of a result in the request or on the thread, and other content. */
  isOtherAnswer({ messageId, ...answer }: Answer & { messageId: string }): boolean {
    if (this.#originals?.has(messageId) === true) {
      return this.#answers?.get(messageId)?.digest !== digestOfAnswer(answer);
    }
    const record = this.recordOf(messageId);
    return record !== undefined && !isRecordedAnswer(record, answer);
  }

  /** The tool name of a call that the client has. */
  callName(toolCallId: string): string | undefined {
    const call = this.#calls?.get(toolCallId);
    return call?.isDelivered === true ? call.name : this.#earlier.calls.get(toolCallId)?.name;
  }

  /** The tool name of a call, withheld or not: receipts about a withheld call name its tool. */
  toolName(toolCallId: string): string | undefined {
    return this.#calls?.get(toolCallId)?.name ?? this.#earlier.calls.get(toolCallId)?.name;
  }

  /** Whether a call is complete: it is in the request or in a message list, has ended, or belongs to an earlier run. */
  isWholeCall(toolCallId: string): boolean {
    if (this.#whole?.has(toolCallId) === true) return true;
    return this.#earlier.calls.get(toolCallId)?.isHeld === true;
  }

  /** Whether a call of an earlier run was to a tool that the client declared then. */
  wasClientsCall(toolCallId: string): boolean {
    return this.#earlier.calls.get(toolCallId)?.isClients === true;
  }

  /** Records a call that arrives, before the decision about it. */
  opened(toolCallId: string, name: string): void {
    this.#callOf(toolCallId, name);
  }

  /** Records an event that is delivered. */
  see(event: AgUiEvent): void {
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        this.#begin(event.messageId, this.#lists);
        return this.#add(event.messageId, event.role ?? "assistant");
      case "REASONING_MESSAGE_START":
        this.#begin(event.messageId, this.#lists);
        return this.#add(event.messageId, "reasoning");
      case "ACTIVITY_SNAPSHOT":
        this.#begin(event.messageId, NEVER);
        return this.#add(event.messageId, "activity");
      case "TOOL_CALL_RESULT":
        this.#begin(event.messageId, NEVER);
        this.#add(event.messageId, "tool");
        return this.#addAnswer(event.messageId, event);
      case "TOOL_CALL_START": {
        const carrier = this.carrierOf(event);
        this.#begin(carrier, this.#earlier.messages.has(carrier) ? NEVER : this.#lists);
        this.#add(carrier, "assistant");
        this.#callOf(event.toolCallId, event.toolCallName).isDelivered = true;
        return undefined;
      }
      case "TOOL_CALL_END":
        return this.#addWhole(event.toolCallId);
      case "MESSAGES_SNAPSHOT":
        this.#lists += 1;
        for (const message of event.messages) {
          this.#exact.set(message.id, NEVER);
          this.#addMessage(message);
        }
        return undefined;
      case "RUN_STARTED":
        // The client adds only the messages of the first echo that it does not have.
        for (const message of event.input?.messages ?? []) {
          this.#begin(message.id, NEVER);
          this.#addMessage(message);
        }
        return undefined;
      case "RUN_FINISHED":
        this.hasAsked ||= event.outcome?.type === "interrupt";
        return undefined;
      default:
        return undefined;
    }
  }

  /** Whether an event must be delivered to close a unit that is open on the client. */
  mustClose(place: UnitPlace | undefined): boolean {
    return place?.phase === "close" && this.#open.has(place.openKey);
  }

  /** Applies a decision: a unit that is blocked at its start stays withheld to its end. */
  settle(place: UnitPlace | undefined, decision: Decision): void {
    if (place === undefined) return;
    const denial = decision.allow && !this.#observes ? undefined : denialIn(decision);
    // A block within a unit withholds the rest of it; the client still receives the end.
    if (denial !== undefined) {
      this.#register.add(place.key, withheldBy(denial, this.#observes, !decision.allow));
      if (place.key.startsWith("step:")) {
        this.#steps ??= new Set();
        this.#steps.add(place.key);
      }
    }
    if (decision.allow && place.phase === "open") this.#open.set(place.openKey, true);
    if (place.phase !== "close") return;
    if (decision.allow) this.#open.delete(place.openKey);
    // Step names can repeat: the next step with this name is judged again.
    if (this.#steps?.delete(place.key) === true) this.#register.release(place.key);
  }

  /** A run starts or ends: no unit stays open. */
  closeAll(): void {
    this.#open.clear();
    for (const key of this.#steps ?? []) this.#register.release(key);
    this.#steps = undefined;
  }

  /** The message of a call. If the parent is not an assistant message, the client creates a message with the id of the call. */
  carrierOf(event: { parentMessageId?: string; toolCallId: string }): string {
    const { parentMessageId, toolCallId } = event;
    if (parentMessageId === undefined || parentMessageId === "") return toolCallId;
    const role = this.roleOf(parentMessageId);
    return role === undefined || role === "assistant" ? parentMessageId : toolCallId;
  }

  #addMessage(message: Message): void {
    this.#add(message.id, message.role);
    if (message.role === "tool") return this.#addAnswer(message.id, message);
    if (message.role !== "assistant") return;
    for (const call of message.toolCalls ?? []) {
      const known = this.#callOf(call.id, call.function.name);
      if (!known.isDelivered) this.#addWhole(call.id);
      known.isDelivered = true;
    }
  }

  /** Records how much of a new message's text is known. */
  #begin(id: string, lists: number): void {
    if (!this.#exact.has(id)) this.#exact.set(id, lists);
  }

  #add(id: string, role: Message["role"]): void {
    if (this.#roles.has(id)) return;
    assertWithin("maxKnownMessages", this.#roles.size + 1, MAX_KNOWN);
    this.#roles.set(id, role);
  }

  /** A result from the request stays the one to compare with; a result of the agent may be replaced. */
  #addAnswer(id: string, { toolCallId, content }: Answer): void {
    if (this.#roles.get(id) !== "tool") return;
    if (this.#originals?.has(id) === true) return;
    this.#answers ??= new Map();
    this.#answers.set(id, { toolCallId, digest: digestOfAnswer({ toolCallId, content }) });
  }

  #addWhole(id: string): void {
    this.#whole ??= new Set();
    assertWithin("maxKnownCalls", this.#whole.size + 1, MAX_KNOWN);
    this.#whole.add(id);
  }

  /** The call with this id. A call that is opened again keeps its first name: the person judged the call by that name. */
  #callOf(id: string, name: string): Call {
    this.#calls ??= new Map();
    const known = this.#calls.get(id);
    if (known !== undefined) return known;
    assertWithin("maxKnownCalls", this.#calls.size + 1, MAX_KNOWN);
    const call = { name, isDelivered: false };
    this.#calls.set(id, call);
    return call;
  }
}

function digestOfAnswer({ toolCallId, content }: Answer): string {
  return sha256Hex(canonicalJson([toolCallId, content as JsonValue]));
}

function isRecordedAnswer({ content, fields }: MessageRecord, answer: Answer): boolean {
  return (
    content.includes(digestOf(answer.content)) &&
    fields?.["toolCallId"] === digestOf(answer.toolCallId)
  );
}
