import type { Message } from "@countersign/wire";

/** Random numbers from a seed, so that a failed run can be repeated. */
export type Dice = { below(limit: number): number; chance(share: number): boolean };

/** Creates the random numbers of one seed (mulberry32). */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
  };
}

/** The part of the agent's input that matters here. */
export type AgentInput = {
  threadId: string;
  runId: string;
  messages: Message[];
  tools?: { name: string }[];
};

type Event = { type: string; [field: string]: unknown };

const WORDS = ["Hello", " wörld", " 😀", "\n", '"quoted"', " and", " {more}", ""];

/** Generates the events of an agent's run, with every kind of message that a client keeps. */
export class RandomAgent {
  readonly #dice: Dice;
  readonly #hasSubagents: boolean;
  readonly #hasInterrupts: boolean;
  #count = 0;

  constructor(dice: Dice, features: { subagents: boolean; interrupts: boolean }) {
    this.#dice = dice;
    this.#hasSubagents = features.subagents;
    this.#hasInterrupts = features.interrupts;
  }

  /** One run's events; some runs end with an error, or not at all. */
  run(input: AgentInput): Event[] {
    const dice = this.#dice;
    const { threadId, runId } = input;
    const own: Message[] = [];
    const events: Event[] = [
      {
        type: "RUN_STARTED",
        threadId,
        runId,
        ...(dice.chance(0.2) ? { input: { threadId, runId, messages: input.messages } } : {}),
      },
    ];
    const units = 1 + dice.below(5);
    for (let unit = 0; unit < units; unit += 1) events.push(...this.#unit(input, own));
    if (dice.chance(0.1)) return [...events, { type: "RUN_ERROR", message: "it failed" }];
    if (dice.chance(0.05)) return events;
    const calls = input.messages
      .concat(own)
      .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
    const asksBack = this.#hasInterrupts && dice.chance(0.3);
    const outcome = {
      type: "interrupt",
      interrupts: [
        {
          id: this.#id("i"),
          reason: "confirmation",
          ...(calls.length > 0 ? { toolCallId: calls.at(-1)?.id } : {}),
          responseSchema: { type: "object", properties: { ok: { type: "boolean" } } },
        },
        { id: this.#id("i"), reason: "input_required" },
      ].slice(0, 1 + dice.below(2)),
    };
    return [...events, { type: "RUN_FINISHED", threadId, runId, ...(asksBack ? { outcome } : {}) }];
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }

  #metadata(): object {
    if (!this.#dice.chance(0.3)) return {};
    return { metadata: { [`k${this.#dice.below(3)}`]: this.#dice.below(9) } };
  }

  #unit(input: AgentInput, own: Message[]): Event[] {
    const dice = this.#dice;
    switch (dice.below(9)) {
      case 0:
      case 1:
        return this.#text(own);
      case 2:
        return this.#reasoning();
      case 3:
        return this.#call(own, "lookup", true);
      case 4:
        return input.tools?.length ? this.#call(own, "ask_person", false) : this.#text(own);
      case 5:
        return this.#activity();
      case 6:
        return this.#snapshot(input, own);
      case 7:
        return this.#hasSubagents ? this.#subagent(own) : this.#text(own);
      default:
        return [{ type: "STATE_SNAPSHOT", snapshot: { n: dice.below(5) } }];
    }
  }

  #text(own: Message[], tag: object = {}): Event[] {
    const dice = this.#dice;
    const known = own.filter(({ role }) => role === "assistant");
    const isAgain = Object.keys(tag).length === 0 && known.length > 0 && dice.chance(0.15);
    const messageId = isAgain ? (known[dice.below(known.length)]?.id as string) : this.#id("m");
    const pieces = Array.from(
      { length: dice.below(5) },
      () => WORDS[dice.below(WORDS.length)] ?? "",
    );
    if (!isAgain) own.push({ id: messageId, role: "assistant", content: pieces.join("") });
    else {
      const message = own.find(({ id }) => id === messageId) as { content?: string };
      message.content = (message.content ?? "") + pieces.join("");
    }
    return [
      { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...this.#metadata(), ...tag },
      ...pieces.map((delta) => ({
        type: "TEXT_MESSAGE_CONTENT",
        messageId,
        delta: delta === "" ? "x" : delta,
        ...this.#metadata(),
      })),
      { type: "TEXT_MESSAGE_END", messageId, ...this.#metadata() },
    ];
  }

  #reasoning(): Event[] {
    const messageId = this.#id("r");
    const span = this.#id("s");
    return [
      { type: "REASONING_START", messageId: span },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta: "thinking" },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta: " on" },
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId: span },
      ...(this.#dice.chance(0.5)
        ? [
            {
              type: "REASONING_ENCRYPTED_VALUE",
              subtype: "message",
              entityId: messageId,
              encryptedValue: "opaque",
            },
          ]
        : []),
    ];
  }

  #call(own: Message[], toolCallName: string, isAnswered: boolean): Event[] {
    const dice = this.#dice;
    const toolCallId = this.#id("c");
    const parents = own.filter(({ role }) => role === "assistant");
    const parent = dice.chance(0.5) ? parents.at(-1) : undefined;
    const argumentsText = `{"n":${dice.below(100)}}`;
    const call = {
      id: toolCallId,
      type: "function" as const,
      function: { name: toolCallName, arguments: argumentsText },
    };
    if (parent?.role === "assistant") (parent.toolCalls ??= []).push(call);
    else own.push({ id: toolCallId, role: "assistant", toolCalls: [call] });
    const events: Event[] = [
      {
        type: "TOOL_CALL_START",
        toolCallId,
        toolCallName,
        ...(parent === undefined ? {} : { parentMessageId: parent.id }),
        ...this.#metadata(),
      },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: argumentsText.slice(0, 3) },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: argumentsText.slice(3) },
      { type: "TOOL_CALL_END", toolCallId, ...this.#metadata() },
    ];
    if (dice.chance(0.3)) {
      const encryptedValue = "sealed";
      const event = { type: "REASONING_ENCRYPTED_VALUE", entityId: toolCallId, encryptedValue };
      events.push({ ...event, subtype: "tool-call" });
    }
    if (isAnswered) {
      const messageId = this.#id("t");
      own.push({ id: messageId, role: "tool", toolCallId, content: "found" });
      events.push({ type: "TOOL_CALL_RESULT", messageId, toolCallId, content: "found" });
    }
    return events;
  }

  #activity(): Event[] {
    const messageId = this.#id("a");
    const activityType = "progress";
    return [
      { type: "ACTIVITY_SNAPSHOT", messageId, activityType, content: { done: 1 } },
      {
        type: "ACTIVITY_DELTA",
        messageId,
        activityType,
        patch: [{ op: "replace", path: "/done", value: 2 }],
      },
    ];
  }

  #snapshot(input: AgentInput, own: Message[]): Event[] {
    const dice = this.#dice;
    const known = new Set(own.map(({ id }) => id));
    const messages = [...input.messages.filter(({ id }) => !known.has(id)), ...own]
      .filter(({ role }) => role !== "reasoning" || dice.chance(0.5))
      .map((message) =>
        message.role === "assistant" && message.toolCalls === undefined && dice.chance(0.2)
          ? { ...message, content: `${message.content ?? ""} (edited)` }
          : message,
      );
    const last = messages.at(-1);
    const isDroppable = last?.role === "assistant" && last.toolCalls === undefined;
    if (isDroppable && dice.chance(0.2)) messages.pop();
    return [{ type: "MESSAGES_SNAPSHOT", messages: structuredClone(messages) }];
  }

  #subagent(own: Message[]): Event[] {
    const subagentRunId = this.#id("sub");
    return [
      { type: "SUBAGENT_STARTED", subagentRunId, name: "helper" },
      ...this.#text(own, { subagentRunId }),
      { type: "SUBAGENT_FINISHED", subagentRunId },
    ];
  }
}
