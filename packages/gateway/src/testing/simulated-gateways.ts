import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import type {
  CountKind,
  CountResult,
  CountedLimit,
  KeyedCountRequest,
  WindowLimit,
} from "../quota/count-store.js";
import { Exchange } from "../quota/count-exchange.js";
import { ReservedCount } from "../quota/reserved-count.js";
import { LEASE_MS } from "../quota/velocity-caps.js";

/** A step of a simulation. */
export type Command =
  | { readonly kind: "use"; readonly gateway: number; readonly events: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "idle" | "kill"; readonly gateway: number }
  | { readonly kind: "copy" | "fail" | "empty" }
  | { readonly kind: "line"; readonly fate: Fate; readonly message: number };
/** The fate of a message: it or its response may be lost, or it may arrive after the timeout. */
type Fate = (typeof FATES)[number];

const FATES = ["read", "answer", "both", "both", "both", "both", "lose", "late"] as const;
const GATEWAYS = 4;
const gateway = fc.nat(GATEWAYS - 1);
const events = fc.integer({ min: 1, max: 12 });
// Some of them end just before or after the end of a lease.
const ms = fc.oneof(
  fc.nat(100),
  fc.nat(3000),
  fc.nat(25_000),
  fc.integer({ min: LEASE_MS - 1000, max: LEASE_MS + 1200 }),
);
const kind = <Kind extends string>(name: Kind): fc.Arbitrary<Kind> => fc.constant(name);
const STEPS: { weight: number; arbitrary: fc.Arbitrary<Command> }[] = [
  { weight: 10, arbitrary: fc.record({ kind: kind("use"), gateway, events }) },
  { weight: 4, arbitrary: fc.record({ kind: kind("wait"), ms }) },
  { weight: 2, arbitrary: fc.record({ kind: kind("idle"), gateway }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("kill"), gateway }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: kind("line"),
      fate: fc.constantFrom(...FATES),
      message: fc.nat(5),
    }),
  },
];
/** What happens to the server itself. */
const FAULTS: typeof STEPS = [
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("copy", "fail", "empty") }) },
];

/** How fast the clock of each gateway runs. */
export const rates = fc.array(fc.double({ min: 0.85, max: 1.15, noNaN: true }), {
  minLength: GATEWAYS,
  maxLength: GATEWAYS,
});

/** Steps of a simulation; with `faults`, also those of the server. */
export function commands(faults = false): fc.Arbitrary<Command[]> {
  const step = fc.oneof(...STEPS, ...(faults ? FAULTS : []));
  return fc.array(step, { minLength: 20, maxLength: 150 });
}

/** Where the counts of a simulation are. */
export type Backend = {
  /** Answers the requests of a gateway at this time. */
  respond(
    gateway: string,
    requests: readonly KeyedCountRequest[],
    now: number,
  ): Promise<CountResult[]>;
  /** Keeps the data as a replica has it. */
  copy?(): Promise<void>;
  /** Another process continues with the copy, or empty; these gateways connect again. */
  fail?(isEmpty: boolean, gateways: readonly string[], now: number): Promise<void>;
};

/** One count in memory, as a row would be. */
export function memoryBackend(kind: CountKind): Backend {
  let row: JsonObject | undefined;
  return {
    respond: async (name, requests, now) =>
      requests.map((request) => {
        const granted = kind.grant(row, request, name, now);
        // Serialized as a row would be.
        row = JSON.parse(JSON.stringify(granted.row)) as JsonObject;
        return granted.result;
      }),
  };
}

type Message = {
  readonly gateway: string;
  readonly requests: readonly KeyedCountRequest[];
  results: CountResult[] | "failed" | undefined;
  readonly resolve: (results: CountResult[]) => void;
  readonly reject: (error: Error) => void;
};

type Simulated = {
  readonly name: string;
  readonly held: ReservedCount;
  readonly exchange: Exchange;
  readonly clock: () => number;
};

/**
 * Gateways with separate clocks, and a store behind a network that delays, loses and repeats
 * messages.
 */
export class World {
  now = 1_000_000;
  readonly used: number[] = [];
  readonly #kind: CountKind;
  readonly #limit: CountedLimit;
  readonly #backend: Backend;
  readonly #rates: readonly number[];
  readonly #gateways: Simulated[] = [];
  #messages: Message[] = [];
  #starts = 0;

  constructor(
    kind: CountKind,
    limit: CountedLimit,
    rates: readonly number[],
    backend: Backend = memoryBackend(kind),
  ) {
    this.#backend = backend;
    this.#kind = kind;
    this.#limit = limit;
    this.#rates = rates;
    rates.forEach((_, index) => this.#start(index));
  }

  #start(index: number): void {
    this.#starts += 1;
    const name = `g${this.#starts}`;
    const origin = this.now * (index + 1);
    const rate = this.#rates[index] ?? 1;
    const clock = (): number => (this.now - origin) * rate;
    const store = {
      exchange: (requests: readonly KeyedCountRequest[]) =>
        new Promise<CountResult[]>((resolve, reject) => {
          this.#messages.push({ gateway: name, requests, results: undefined, resolve, reject });
        }),
      sweep: async () => {},
      close: async () => {},
    };
    // Every other gateway gives up at once.
    const exchange = new Exchange(store, name, (didAnswer) => !didAnswer && index % 2 === 0, clock);
    this.#gateways[index] = {
      name,
      held: new ReservedCount("key", clock(), this.#kind.terms),
      exchange,
      clock,
    };
  }

  async run(step: Command): Promise<void> {
    if (step.kind === "wait") this.now += step.ms;
    else if (step.kind === "line") await this.#onTheLine(step.fate, step.message);
    else if (step.kind === "kill") {
      this.#start(step.gateway);
      // What only a killed gateway knows is in the copy, or lost with both.
      await this.#backend.copy?.();
    } else if (step.kind === "copy") await this.#backend.copy?.();
    else if (step.kind === "fail" || step.kind === "empty") await this.#fail(step.kind === "empty");
    else if ("gateway" in step) this.#atGateway(step);
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  }

  #atGateway(step: Extract<Command, { gateway: number }>): void {
    const { held, exchange, clock } = this.#gateways[step.gateway] as Simulated;
    if (step.kind !== "use") {
      held.retire(clock(), Number.POSITIVE_INFINITY);
      void exchange.ask(held, this.#limit, 0);
      return;
    }
    for (let event = 0; event < step.events; event += 1) {
      // As the rule does: the used events and this one are within the limit.
      if (held.used(this.#limit, clock()) + 1 > this.#limit.capacity) break;
      if (held.count(clock()) === "nothing") throw new Error("room that is not there");
      this.used.push(this.now);
    }
    void exchange.ask(held, this.#limit, held.blockSize(this.#limit, step.events, clock()));
  }

  async #read(message: Message): Promise<void> {
    if (message.results !== undefined) return;
    const { gateway, requests } = message;
    message.results = await this.#backend
      .respond(gateway, requests, this.now)
      .catch(() => "failed" as const);
  }

  async #fail(isEmpty: boolean): Promise<void> {
    // Answers on the connections to the old process do not arrive.
    const cut = this.#messages.filter(({ results }) => results !== undefined);
    this.#messages = this.#messages.filter(({ results }) => results === undefined);
    for (const { reject } of cut) reject(new Error("cut"));
    const names = this.#gateways.map(({ name }) => name);
    await this.#backend.fail?.(isEmpty, names, this.now);
  }

  async #onTheLine(fate: Fate, place: number): Promise<void> {
    const message = this.#messages[place % Math.max(1, this.#messages.length)];
    if (message === undefined) return;
    if (fate === "read" || fate === "both") {
      await this.#read(message);
      if (fate === "read") return;
    }
    this.#messages = this.#messages.filter((one) => one !== message);
    const isAnswered = fate === "both" || fate === "answer";
    const { results } = message;
    if (isAnswered && Array.isArray(results)) message.resolve(results);
    else message.reject(new Error("lost"));
    if (fate === "late") await this.#read(message);
  }
}

/** The most events that may be within this time. */
export function boundOf(limit: WindowLimit, passed: number): number {
  if (limit.kind === "bucket") return limit.capacity + (passed * limit.max) / limit.windowMs + 1e-6;
  return passed < limit.windowMs ? limit.max : Number.POSITIVE_INFINITY;
}

/** The first span of time with more events than the limit allows; `undefined` when there is none. */
export function overrun(used: readonly number[], limit: WindowLimit): object | undefined {
  for (const [index, start] of used.entries()) {
    for (let last = index; last < used.length; last += 1) {
      const passed = (used[last] ?? 0) - start;
      const events = last - index + 1;
      if (events > boundOf(limit, passed)) return { start, passed, events };
    }
  }
  return undefined;
}
