import type { AgUiEvent } from "@countersign/wire";
import type { EmitterFacts } from "./emitter.js";
import type { Dialect } from "@countersign/wire/dialects";

/** Facts about a stream, apart from its violations. */
export type StreamSummary = {
  events: number;
  runs: number;
  /** Bytes of the events' JSON. */
  bytes: number;
  /** The dialect the agent speaks, as far as the stream shows it. */
  dialect: Dialect;
  /** `protocolVersion` of the first RUN_STARTED that declares one. */
  protocolVersion?: string;
  /** The features that the stream uses: `tools`, `reasoning`, `state`, `A2UI 0.9`, … */
  features: string[];
  /** Events of each type; at most so many different ones are told apart. */
  types: Record<string, number>;
  /** The framework behind it, and what a gateway repairs of its stream. */
  emitter: EmitterFacts;
};

const MAX_TYPES = 100;

const FEATURES: readonly (readonly [prefix: string, feature: string])[] = [
  ["TEXT_MESSAGE", "text"],
  ["TOOL_CALL", "tools"],
  ["REASONING", "reasoning"],
  ["THINKING", "reasoning"],
  ["STATE", "state"],
  ["MESSAGES_SNAPSHOT", "history"],
  ["ACTIVITY", "activity"],
  ["SUBAGENT", "subagents"],
  ["STEP", "steps"],
  ["RAW", "raw events"],
  ["CUSTOM", "custom events"],
];

/** Adds up what a stream is made of. */
export class SummaryCounter {
  events = 0;
  runs = 0;
  bytes = 0;
  rawBytes = 0;
  protocolVersion: string | undefined;
  readonly #types = new Map<string, number>();
  readonly #features = new Set<string>();

  /** Counts one event as it stood on the wire. */
  count(type: string, bytes: number): void {
    this.events++;
    this.bytes += bytes;
    const known = this.#types.get(type);
    if (known !== undefined) this.#types.set(type, known + 1);
    else if (this.#types.size < MAX_TYPES) {
      this.#types.set(type, 1);
      for (const [prefix, feature] of FEATURES) {
        if (type.startsWith(prefix)) this.#features.add(feature);
      }
      if (type.endsWith("_CHUNK")) this.#features.add("chunks");
    }
  }

  /** Looks at one event that was understood. */
  see(event: AgUiEvent): void {
    if (event.type === "RUN_STARTED") {
      this.runs++;
      this.protocolVersion ??= event.protocolVersion;
      if (event.input?.resume !== undefined) this.#features.add("resume");
    } else if (event.type === "RUN_FINISHED") {
      if (event.outcome?.type === "interrupt") this.#features.add("interrupts");
      if (event.usage !== undefined) this.#features.add("usage");
    }
  }

  /** The sum so far. */
  summary(dialect: Dialect, conventions: Iterable<string>): Omit<StreamSummary, "emitter"> {
    return {
      events: this.events,
      runs: this.runs,
      bytes: this.bytes,
      dialect,
      ...(this.protocolVersion === undefined ? {} : { protocolVersion: this.protocolVersion }),
      features: [...this.#features, ...conventions].sort(),
      types: Object.fromEntries([...this.#types].sort(([, a], [, b]) => b - a)),
    };
  }
}
