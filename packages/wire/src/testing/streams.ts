import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, JsonPatch, TextMessageRole } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import type { RunFinishedOutcome } from "../model/run.js";
import { applyJsonPatch } from "../reduce/index.js";
import { Random } from "./random.js";
import { randomMessage, randomObject, randomPatch, randomValue } from "./stream-values.js";

/** A generated stream and the input it answers. */
export type GeneratedStream = { input: RunAgentInput; events: AgUiEvent[] };

const TEXT_IDS = ["m1", "m2", "m3", "m4", "m5", ""];
const CHUNK_IDS = ["k1", "k2", "k3"];
const CALL_IDS = ["c1", "c2", "c3", "c4"];
const CHUNK_CALL_IDS = ["kc1", "kc2"];
const REASONING_IDS = ["r1", "r2", "m1"];
const ACTIVITY_IDS = ["a1", "a2", "m2"];
const STEP_NAMES = ["plan", "act", "check"];
const TAGS = ["s1", "s2", ""];
const TOOL_NAMES = ["lookup", "write"];
const ROLES: readonly TextMessageRole[] = ["assistant", "user", "system", "developer"];

const CHUNK_TYPES = new Map([
  ["text", "TEXT_MESSAGE_CHUNK"],
  ["call", "TOOL_CALL_CHUNK"],
  ["reasoning", "REASONING_MESSAGE_CHUNK"],
]);

type Owned = { id: string; tag: string | undefined };

const WEIGHTS = {
  textStart: 5,
  textContent: 10,
  textEnd: 4,
  callStart: 4,
  callArgs: 6,
  callEnd: 4,
  callResult: 3,
  textChunk: 6,
  callChunk: 4,
  reasoningChunk: 3,
  spanStart: 1,
  spanEnd: 1,
  reasoningStart: 2,
  reasoningContent: 3,
  reasoningEnd: 2,
  encrypted: 2,
  stepStart: 2,
  stepEnd: 2,
  stateSnapshot: 1,
  stateDelta: 3,
  messagesSnapshot: 1,
  activitySnapshot: 2,
  activityDelta: 3,
  subagentStart: 2,
  subagentEnd: 1,
  raw: 1,
  custom: 1,
} as const;

/**
 * A weighted random walk that emits mostly legal runs.
 *
 * Ids come from small pools, so that closed units are opened again, kinds share ids and tags meet
 * by chance: that is where two readers of one protocol come to differ.
 */
class Walk {
  readonly events: AgUiEvent[] = [];
  readonly #random: Random;
  #texts: Owned[] = [];
  #calls: Owned[] = [];
  #reasonings: Owned[] = [];
  #spans: Owned[] = [];
  #steps: Owned[] = [];
  #subagents: string[] = [];
  #usedSubagents = new Set<string>();
  #owners = new Map<string, string | undefined>();
  /** Roughly what the stream's documents hold, so that most patches have something to patch. */
  readonly #documents = new Map<string, JsonValue>();

  constructor(random: Random, state: JsonValue) {
    this.#random = random;
    this.#documents.set("state", state);
  }

  run(threadId: string, runId: string, length: number): void {
    this.#texts = [];
    this.#calls = [];
    this.#reasonings = [];
    this.#spans = [];
    this.#steps = [];
    this.#subagents = [];
    this.#usedSubagents = new Set();
    this.#owners = new Map();
    this.#start(threadId, runId);
    for (let count = 0; count < length; count++) this.#step();
    this.#finish(threadId, runId);
  }

  #emit(event: AgUiEvent): void {
    if (this.#random.chance(0.08)) event.metadata = randomObject(this.#random, 1);
    if (this.#random.chance(0.03)) event.rawEvent = { provider: this.#random.below(9) };
    if (this.#random.chance(0.05)) event.timestamp = 1_700_000_000_000 + this.#random.below(1000);
    this.events.push(event);
  }

  #start(threadId: string, runId: string): void {
    const random = this.#random;
    const event: AgUiEvent = { type: "RUN_STARTED", threadId, runId };
    if (random.chance(0.2)) {
      const messages = TEXT_IDS.filter(() => random.chance(0.3)).map((id) =>
        randomMessage(random, id, CALL_IDS, TAGS),
      );
      event.input = { threadId, runId, messages };
    }
    this.#emit(event);
  }

  #finish(threadId: string, runId: string): void {
    const random = this.#random;
    if (random.chance(0.1)) {
      this.#emit({
        type: "RUN_ERROR",
        message: "failed",
        ...(random.chance(0.5) && { code: "x" }),
      });
      return;
    }
    for (const { id, tag } of this.#texts)
      this.#emit({ type: "TEXT_MESSAGE_END", messageId: id, ...maybe(random, tag) });
    for (const { id, tag } of this.#calls)
      this.#emit({ type: "TOOL_CALL_END", toolCallId: id, ...maybe(random, tag) });
    for (const { id, tag } of this.#reasonings)
      this.#emit({ type: "REASONING_MESSAGE_END", messageId: id, ...maybe(random, tag) });
    for (const { id, tag } of this.#spans)
      this.#emit({ type: "REASONING_END", messageId: id, ...maybe(random, tag) });
    for (const { id, tag } of this.#steps)
      this.#emit({ type: "STEP_FINISHED", stepName: id, ...tagged(tag) });
    for (const id of this.#subagents) this.#emit({ type: "SUBAGENT_FINISHED", subagentRunId: id });
    const event: AgUiEvent = { type: "RUN_FINISHED", threadId, runId };
    const outcome = this.#outcome();
    if (outcome !== undefined) event.outcome = outcome;
    if (random.chance(0.3))
      event.usage = [{ model: "m", inputTokens: 1, outputTokens: random.below(9) }];
    if (random.chance(0.2)) event.result = randomValue(random, 1) ?? "none";
    this.#emit(event);
    if (random.chance(0.05)) this.#emit({ type: "RUN_ERROR", message: "late" });
  }

  #outcome(): RunFinishedOutcome | undefined {
    const random = this.#random;
    switch (random.below(8)) {
      case 0:
        return { type: "cancelled" };
      case 1:
        return {
          type: "interrupt",
          interrupts: ["i1", "i2"]
            .slice(0, 1 + random.below(2))
            .map((id) => ({ id, reason: "confirmation" })),
        };
      case 2:
        return {
          type: "success",
          ...(random.chance(0.5) && { pendingToolCallIds: CALL_IDS.slice(random.below(5)) }),
        };
      default:
        return undefined;
    }
  }

  #tag(): string | undefined {
    return this.#random.chance(0.3) ? this.#random.pick(TAGS) : undefined;
  }

  /** The owner an id was first given, so that most tags agree. */
  #ownerOf(kind: string, id: string, tag: string | undefined): string | undefined {
    const key = `${kind}:${id}`;
    if (!this.#owners.has(key)) this.#owners.set(key, tag);
    return this.#random.chance(0.99) ? this.#owners.get(key) : tag;
  }

  #step(): void {
    const action = this.#random.weighted(WEIGHTS);
    if (action.startsWith("text")) this.#text(action);
    else if (action.startsWith("call")) this.#call(action);
    else if (action.startsWith("reasoning") || action.startsWith("span")) this.#reasoning(action);
    else if (action.startsWith("step") || action.startsWith("subagent")) this.#scope(action);
    else this.#document(action);
  }

  #text(action: string): void {
    const random = this.#random;
    if (action === "textStart") {
      const id = pickFree(random, TEXT_IDS, this.#texts);
      if (id === undefined) return;
      const tag = this.#ownerOf("text", id, this.#tag());
      this.#texts.push({ id, tag });
      this.#emit({
        type: "TEXT_MESSAGE_START",
        messageId: id,
        ...(random.chance(0.5) && { role: random.chance(0.8) ? "assistant" : random.pick(ROLES) }),
        ...(random.chance(0.1) && { name: "n" }),
        ...tagged(tag),
      });
    } else if (action === "textChunk") {
      const id = random.pick(CHUNK_IDS);
      this.#emit({
        type: "TEXT_MESSAGE_CHUNK",
        ...this.#chunkFields("text", id, "messageId"),
        ...(random.chance(0.1) && { role: "assistant" }),
      });
    } else {
      const open = this.#continue(this.#texts, action === "textEnd");
      if (open === undefined) return;
      const fields = { messageId: open.id, ...maybe(random, open.tag) };
      this.#emit(
        action === "textEnd"
          ? { type: "TEXT_MESSAGE_END", ...fields }
          : { type: "TEXT_MESSAGE_CONTENT", delta: this.#delta(), ...fields },
      );
    }
  }

  #call(action: string): void {
    const random = this.#random;
    const parent = random.chance(0.4) ? { parentMessageId: random.pick(TEXT_IDS) } : {};
    if (action === "callStart") {
      const id = pickFree(random, CALL_IDS, this.#calls);
      if (id === undefined) return;
      const parentId = parent.parentMessageId;
      const inherited = parentId === undefined ? undefined : this.#owners.get(`text:${parentId}`);
      const tag = this.#ownerOf("call", id, parentId === undefined ? this.#tag() : inherited);
      this.#calls.push({ id, tag });
      const toolCallName = random.chance(0.9) ? "lookup" : random.pick(TOOL_NAMES);
      this.#emit({
        type: "TOOL_CALL_START",
        toolCallId: id,
        toolCallName,
        ...parent,
        ...maybe(random, tag),
      });
    } else if (action === "callChunk") {
      const id = random.pick(CHUNK_CALL_IDS);
      this.#emit({
        type: "TOOL_CALL_CHUNK",
        ...this.#chunkFields("call", id, "toolCallId"),
        ...(random.chance(0.97) && { toolCallName: "lookup" }),
      });
    } else if (action === "callResult") {
      this.#emit({
        type: "TOOL_CALL_RESULT",
        messageId: random.chance(0.8) ? `result-${random.below(4)}` : random.pick(TEXT_IDS),
        toolCallId: random.pick([...CALL_IDS, ...CHUNK_CALL_IDS]),
        content: random.chance(0.8) ? "ok" : [{ type: "text", text: "part" }],
        ...(random.chance(0.3) && { role: "tool" }),
        ...tagged(this.#tag()),
      });
    } else {
      const open = this.#continue(this.#calls, action === "callEnd");
      if (open === undefined) return;
      const fields = { toolCallId: open.id, ...maybe(random, open.tag) };
      this.#emit(
        action === "callEnd"
          ? { type: "TOOL_CALL_END", ...fields }
          : { type: "TOOL_CALL_ARGS", delta: this.#delta(), ...fields },
      );
    }
  }

  #reasoning(action: string): void {
    const random = this.#random;
    if (action === "reasoningChunk") {
      const id = random.pick(CHUNK_IDS);
      this.#emit({
        type: "REASONING_MESSAGE_CHUNK",
        ...this.#chunkFields("reasoning", id, "messageId"),
      });
      return;
    }
    const isSpan = action.startsWith("span");
    const open = isSpan ? this.#spans : this.#reasonings;
    if (action.endsWith("Start")) {
      const id = pickFree(random, REASONING_IDS, open);
      if (id === undefined) return;
      const tag = this.#ownerOf("reasoning", id, this.#tag());
      open.push({ id, tag });
      const fields = { messageId: id, ...tagged(tag) };
      this.#emit(
        isSpan
          ? { type: "REASONING_START", ...fields }
          : { type: "REASONING_MESSAGE_START", role: "reasoning", ...fields },
      );
      return;
    }
    const unit = this.#continue(open, action.endsWith("End"));
    if (unit === undefined) return;
    const fields = { messageId: unit.id, ...maybe(random, unit.tag) };
    if (isSpan) this.#emit({ type: "REASONING_END", ...fields });
    else if (action === "reasoningEnd") this.#emit({ type: "REASONING_MESSAGE_END", ...fields });
    else this.#emit({ type: "REASONING_MESSAGE_CONTENT", delta: this.#delta(), ...fields });
  }

  #scope(action: string): void {
    const random = this.#random;
    if (action === "stepStart") {
      const id = random.pick(STEP_NAMES);
      const tag = this.#tag();
      if (this.#steps.some((step) => step.id === id && step.tag === tag)) return;
      this.#steps.push({ id, tag });
      this.#emit({ type: "STEP_STARTED", stepName: id, ...tagged(tag) });
    } else if (action === "stepEnd") {
      const step = this.#continue(this.#steps, true);
      if (step !== undefined)
        this.#emit({ type: "STEP_FINISHED", stepName: step.id, ...tagged(step.tag) });
    } else if (action === "subagentStart") {
      const id = random.pick(TAGS);
      if (this.#usedSubagents.has(id)) return;
      const parents = [...this.#usedSubagents];
      this.#usedSubagents.add(id);
      this.#subagents.push(id);
      this.#emit({
        type: "SUBAGENT_STARTED",
        subagentRunId: id,
        name: "helper",
        ...(parents.length > 0 &&
          random.chance(0.5) && { parentSubagentRunId: random.pick(parents) }),
      });
    } else {
      const id = this.#subagents.pop();
      if (id === undefined) return;
      this.#emit(
        random.chance(0.3)
          ? { type: "SUBAGENT_ERROR", subagentRunId: id, message: "lost" }
          : { type: "SUBAGENT_FINISHED", subagentRunId: id, outcome: { type: "success" } },
      );
    }
  }

  #document(action: string): void {
    const random = this.#random;
    const owner = tagged(this.#tag());
    const messageId = random.pick(ACTIVITY_IDS);
    const activityType = random.pick(["plan", "form"]);
    switch (action) {
      case "encrypted":
        this.#emit({
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: random.pick(["tool-call", "message"] as const),
          entityId: random.pick([...TEXT_IDS, ...CALL_IDS, ...REASONING_IDS]),
          encryptedValue: `v${random.below(9)}`,
        });
        return;
      case "stateSnapshot":
        this.#emit({
          type: "STATE_SNAPSHOT",
          snapshot: this.#remember(
            "state",
            random.chance(0.9) ? randomObject(random) : randomValue(random),
          ),
          ...owner,
        });
        return;
      case "stateDelta":
        this.#emit({ type: "STATE_DELTA", delta: this.#patch("state"), ...owner });
        return;
      case "messagesSnapshot":
        this.#snapshot();
        return;
      case "activitySnapshot":
        this.#emit({
          type: "ACTIVITY_SNAPSHOT",
          messageId,
          activityType,
          content: this.#remember(messageId, randomObject(random)),
          ...(random.chance(0.3) && { replace: random.chance(0.5) }),
          ...tagged(this.#ownerOf("activity", messageId, owner.subagentRunId)),
        });
        return;
      case "activityDelta":
        this.#emit({
          type: "ACTIVITY_DELTA",
          messageId,
          activityType,
          patch: this.#patch(messageId),
        });
        return;
      case "raw":
        this.#emit({ type: "RAW", event: randomValue(random), ...owner });
        return;
      default:
        this.#emit({ type: "CUSTOM", name: "vendor:x", value: randomValue(random), ...owner });
    }
  }

  #remember<Value extends JsonValue>(name: string, document: Value): Value {
    this.#documents.set(name, document);
    return document;
  }

  #patch(name: string): JsonPatch {
    const document = this.#documents.get(name) ?? {};
    const patch = randomPatch(this.#random, document);
    const result = applyJsonPatch(document, patch);
    if (result.applied) this.#documents.set(name, result.document);
    return patch;
  }

  #snapshot(): void {
    const random = this.#random;
    const messages = [...TEXT_IDS, ...ACTIVITY_IDS, "result-0", "new"]
      .filter(() => random.chance(0.35))
      .map((id) => randomMessage(random, id, CALL_IDS, TAGS));
    const event: AgUiEvent = { type: "MESSAGES_SNAPSHOT", messages };
    this.#emit(event);
    if (random.chance(0.2)) {
      const types = random.pick([null, [], ["plan"], ["form", "plan"], 5]);
      event.metadata = { "@ag-ui/client": { authoritativeActivityTypes: types } };
    }
  }

  #delta(): string {
    return this.#random.pick(["", "a", "word ", '{"x":', "é\u{1f600}"]);
  }

  #continue(open: Owned[], closes: boolean): Owned | undefined {
    if (open.length === 0) return undefined;
    const unit = this.#random.pick(open);
    if (closes) open.splice(open.indexOf(unit), 1);
    return unit;
  }

  #chunkFields(
    kind: string,
    id: string,
    field: "messageId" | "toolCallId",
  ): { messageId?: string; toolCallId?: string; delta?: string; subagentRunId?: string } {
    const random = this.#random;
    const tag = this.#ownerOf(`chunk-${kind}`, id, this.#tag());
    const last = this.events.at(-1);
    const follows =
      last !== undefined &&
      CHUNK_TYPES.get(kind) === last.type &&
      ("subagentRunId" in last ? last.subagentRunId : undefined) === tag;
    const mayOmit = random.chance(follows ? 0.6 : 0.01);
    return {
      ...(!mayOmit && { [field]: id }),
      ...(random.chance(0.85) && { delta: this.#delta() }),
      ...tagged(tag),
    };
  }
}

function tagged(tag: string | undefined): { subagentRunId?: string } {
  return tag === undefined ? {} : { subagentRunId: tag };
}

/** A continuation may leave its tag out. */
function maybe(random: Random, tag: string | undefined): { subagentRunId?: string } {
  return random.chance(0.5) ? tagged(tag) : {};
}

function pickFree(
  random: Random,
  ids: readonly string[],
  open: readonly Owned[],
): string | undefined {
  const free = ids.filter((id) => !open.some((unit) => unit.id === id));
  return free.length === 0 ? undefined : random.pick(free);
}

/** A stream of one to three mostly legal runs; the same seed and length give the same stream. */
export function generateStream(seed: number, longest = 42): GeneratedStream {
  const random = new Random(seed);
  const input: RunAgentInput = {
    threadId: "t1",
    runId: "run1",
    messages: TEXT_IDS.filter(() => random.chance(0.15)).map((id) =>
      randomMessage(random, id, CALL_IDS, TAGS),
    ),
    state: randomObject(random),
  };
  const walk = new Walk(random, input.state ?? {});
  const runs = random.pick([1, 1, 1, 2, 3]);
  for (let run = 1; run <= runs; run++) walk.run("t1", `run${run}`, 3 + random.below(longest - 2));
  return { input, events: walk.events };
}
