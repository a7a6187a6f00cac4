import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countedLimits } from "../testing/counted-limits.js";
import { BUDGETS } from "./token-budgets.js";
import type { CountKind, CountResult, CountedLimit, KeyedCountRequest } from "./count-store.js";
import { Exchange } from "./count-exchange.js";
import { ReservedCount } from "./reserved-count.js";
import { LEASE_MS, VELOCITY } from "./velocity-caps.js";

type Command =
  | { readonly kind: "use"; readonly gateway: number; readonly events: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "idle" | "kill"; readonly gateway: number }
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
const command: fc.Arbitrary<Command> = fc.oneof(
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
);

const rates = fc.array(fc.double({ min: 0.85, max: 1.15, noNaN: true }), {
  minLength: GATEWAYS,
  maxLength: GATEWAYS,
});
const commands = fc.array(command, { minLength: 20, maxLength: 150 });
const RUNS = Number(process.env["VELOCITY_RUNS"] ?? 300);

type Message = {
  readonly gateway: string;
  readonly requests: readonly KeyedCountRequest[];
  results: CountResult[] | undefined;
  readonly resolve: (results: CountResult[]) => void;
  readonly reject: (error: Error) => void;
};

type Simulated = {
  readonly held: ReservedCount;
  readonly exchange: Exchange;
  readonly clock: () => number;
};

/**
 * Gateways with separate clocks, and a store behind a network that delays, loses and repeats
 * messages.
 */
class World {
  now = 1_000_000;
  readonly used: number[] = [];
  readonly #kind: CountKind;
  readonly #limit: CountedLimit;
  #row: JsonObject | undefined;
  readonly #rates: readonly number[];
  readonly #gateways: Simulated[] = [];
  #messages: Message[] = [];
  #starts = 0;

  constructor(kind: CountKind, limit: CountedLimit, rates: readonly number[]) {
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
      held: new ReservedCount("key", clock(), this.#kind.terms),
      exchange,
      clock,
    };
  }

  async run(step: Command): Promise<void> {
    if (step.kind === "wait") this.now += step.ms;
    else if (step.kind === "line") this.#onTheLine(step.fate, step.message);
    else if (step.kind === "kill") this.#start(step.gateway);
    else this.#atGateway(step);
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

  #respond(name: string, requests: readonly KeyedCountRequest[]): CountResult[] {
    return requests.map((request) => {
      const { row, result } = this.#kind.grant(this.#row, request, name, this.now);
      // Serialized as a row would be.
      this.#row = JSON.parse(JSON.stringify(row)) as JsonObject;
      return result;
    });
  }

  #onTheLine(fate: Fate, place: number): void {
    const message = this.#messages[place % Math.max(1, this.#messages.length)];
    if (message === undefined) return;
    const { gateway: name, requests } = message;
    if (fate === "read" || fate === "both") {
      message.results ??= this.#respond(name, requests);
      if (fate === "read") return;
    }
    this.#messages = this.#messages.filter((one) => one !== message);
    const isAnswered = fate === "both" || fate === "answer";
    if (isAnswered && message.results !== undefined) message.resolve(message.results);
    else message.reject(new Error("lost"));
    if (fate === "late") message.results ??= this.#respond(name, requests);
  }
}

test("for any delays, losses, late reads, crashes and clock drift, no window holds more than the limit over all gateways", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(countedLimits(), rates, commands, async (limit, clocks, steps) => {
      const world = new World(VELOCITY, limit, clocks);
      for (const step of steps) await world.run(step);
      most = Math.max(most, world.used.length);
      for (const [index, start] of world.used.entries()) {
        for (let last = index; last < world.used.length; last += 1) {
          const passed = (world.used[last] ?? 0) - start;
          const bound =
            limit.kind === "window"
              ? passed < limit.windowMs
                ? limit.max
                : Number.POSITIVE_INFINITY
              : limit.capacity + (passed * limit.max) / limit.windowMs + 1e-6;
          expect(last - index + 1).toBeLessThanOrEqual(bound);
        }
      }
    }),
    { numRuns: RUNS },
  );
  // The network does deliver: a bound that is never approached would prove nothing.
  expect(most).toBeGreaterThan(15);
});

test("for any delays, losses, late reads and crashes, no more events of a token are used than it allows", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      rates,
      commands,
      async (capacity, clocks, steps) => {
        const windowMs = Number.POSITIVE_INFINITY;
        const limit = { kind: "total", capacity, windowMs, expiresAt: 2e9 } as const;
        const world = new World(BUDGETS, limit, clocks);
        for (const step of steps) await world.run(step);
        most = Math.max(most, world.used.length);
        expect(world.used.length).toBeLessThanOrEqual(capacity);
      },
    ),
    { numRuns: RUNS },
  );
  expect(most).toBeGreaterThan(15);
});
