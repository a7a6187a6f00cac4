import type { AgentStore, AgentStoreOptions } from "../store/agent-store.js";
import { createAgentStore } from "../store/create-agent-store.js";
import type { FakeTime } from "./fake-time.js";
import { createFakeTime } from "./fake-time.js";
import { createScriptedTransport } from "./scripted-transport.js";
import type { ScriptedOptions, ScriptedTransport } from "./scripted-transport.js";

/** A store whose server, clock, ids and frames belong to the test. */
export type Harness = {
  readonly store: AgentStore;
  readonly transport: ScriptedTransport;
  readonly time: FakeTime;
  /** Draws a frame: what was put off is published now. */
  frame(): void;
  /** How many frames were asked for. */
  readonly framesAsked: () => number;
};

/** Makes a harness; ids are `run-1`, `message-2` and so on, the thread is `thread`. */
export function createHarness(
  options: Partial<AgentStoreOptions> = {},
  script: ScriptedOptions = {},
): Harness {
  const transport = createScriptedTransport(script);
  const time = createFakeTime();
  const waiting = new Set<() => void>();
  const counts = new Map<string, number>();
  let asked = 0;
  const store = createAgentStore({
    transport,
    threadId: "thread",
    clock: time,
    random: () => 1,
    mintId: (kind) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${kind}-${count}`;
    },
    schedule: (flush) => {
      asked += 1;
      waiting.add(flush);
      return () => waiting.delete(flush);
    },
    ...options,
  });
  return {
    store,
    transport,
    time,
    framesAsked: () => asked,
    frame: () => {
      const flushes = [...waiting];
      waiting.clear();
      for (const flush of flushes) flush();
    },
  };
}

/** The events that open and close a run of the harness. */
export function runOf(number: number): { started: object; finished: object } {
  const ids = { threadId: "thread", runId: `run-${number}` };
  return {
    started: { type: "RUN_STARTED", ...ids, protocolVersion: "1.0" },
    finished: { type: "RUN_FINISHED", ...ids },
  };
}

/** The events of one text message. */
export function textOf(messageId: string, ...deltas: readonly string[]): object[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}
