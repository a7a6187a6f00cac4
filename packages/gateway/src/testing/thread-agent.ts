import type { Message } from "@countersign/wire";
import { inRun, text } from "./events.js";
import type { AgentInput, Dice } from "./random-run.js";

/** When an agent lists its thread in a run; `early` is before it adds the request's new messages. */
export type ListTime = "early" | "start" | "end";

/**
 * An agent that keeps its thread and lists all of it in every run, as LangGraph and Strands do. It
 * takes only new messages from a request.
 */
export class ThreadAgent {
  readonly #dice: Dice;
  readonly #times: ReadonlySet<ListTime>;
  readonly #thread: Message[] = [];
  #count = 0;

  constructor(dice: Dice, times: readonly ListTime[]) {
    this.#dice = dice;
    this.#times = new Set(times);
  }

  /** The events of one run, for the body of a request. */
  run(body: string): object[] {
    const dice = this.#dice;
    const { threadId, runId, messages } = JSON.parse(body) as AgentInput;
    const known = new Set(this.#thread.map(({ id }) => id));
    const events = this.#list("early");
    this.#thread.push(...messages.filter(({ id, role }) => role === "user" && !known.has(id)));
    events.push(...this.#list("start"));
    if (dice.chance(0.3)) events.push(...reasoning(this.#id("t"), this.#id("s")));
    if (dice.chance(0.4)) events.push(...this.#call());
    const answer = this.#answer();
    // Some agents bring their answer only in the list.
    if (!this.#times.has("end") || dice.chance(0.7)) events.push(...answer);
    events.push(...this.#list("end"));
    return inRun({ threadId, runId }, events);
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }

  #list(time: ListTime): object[] {
    if (!this.#times.has(time)) return [];
    return [{ type: "MESSAGES_SNAPSHOT", messages: structuredClone(this.#thread) }];
  }

  #answer(): object[] {
    const id = this.#id("a");
    this.#thread.push({ id, role: "assistant", content: `answer ${id}` });
    return text(id, `answer ${id}`);
  }

  #call(): object[] {
    const [parent, toolCallId, result] = [this.#id("a"), this.#id("c"), this.#id("r")];
    const call = { name: "look_up", arguments: '{"q":"x"}' };
    this.#thread.push(
      {
        id: parent,
        role: "assistant",
        toolCalls: [{ id: toolCallId, type: "function", function: call }],
      },
      { id: result, role: "tool", toolCallId, content: "found" },
    );
    return [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName: call.name,
        parentMessageId: parent,
      },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: call.arguments },
      { type: "TOOL_CALL_END", toolCallId },
      { type: "TOOL_CALL_RESULT", messageId: result, toolCallId, content: "found" },
    ];
  }
}

/** Agents stream reasoning and leave it out of their lists. */
function reasoning(messageId: string, span: string): object[] {
  return [
    { type: "REASONING_START", messageId: span },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId, delta: "thinking" },
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId: span },
  ];
}
