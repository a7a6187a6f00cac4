import { CountersignError } from "@countersign/core";
import type { Clock, Journal } from "../base/ports.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { poll } from "../store/signals.js";
import type { Polling, Signals } from "../store/signals.js";
import "../base/errors.js";

/** The partition of contained agents in the keyed store. */
export const CONTAINED_AGENTS = "contained-agents";

/** The signal that agents were contained or resumed. */
const SIGNAL = "contained";

/** An agent that gets no new runs, and the operator who decided that. */
export type Contained = {
  readonly agent: string;
  readonly operator: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/**
 * Agents that get no new runs until an operator resumes them. The store keeps them, so that a restart does not let an
 * agent loose; gateways on one database follow each other.
 */
export class Containment {
  #contained: ReadonlyMap<string, Contained> = new Map();
  readonly #store: Pick<KeyedStore, "claim" | "write">;
  readonly #clock: Clock;
  readonly #journal: Journal;
  #polling: Polling | undefined;
  #signals: Signals | undefined;

  constructor(
    store: Pick<KeyedStore, "claim" | "write">,
    { clock, journal }: { readonly clock: Clock; readonly journal: Journal },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#journal = journal;
  }

  /** Reads the contained agents; with `followMs`, again and again or by signals, for those of other gateways. */
  async open(followMs?: number, signals?: Signals): Promise<void> {
    await this.#read();
    if (followMs === undefined) return;
    this.#signals = signals;
    // While the store does not answer, the last known agents stay contained.
    const read = (): Promise<boolean> =>
      this.#read().then(
        () => true,
        () => false,
      );
    this.#polling = poll(read, followMs, signals && { signals, name: SIGNAL });
  }

  /** The contained agents. */
  list(): readonly Contained[] {
    return [...this.#contained.values()];
  }

  /** Whether an agent gets no new runs. */
  isContained(agent: string): boolean {
    return this.#contained.has(agent);
  }

  /**
   * Rejects a run of a contained agent.
   *
   * @throws CountersignError `ERR_AGENT_CONTAINED`
   */
  assertNotContained(agent: string): void {
    if (!this.#contained.has(agent)) return;
    const message = "an operator stopped this agent; it gets no new runs";
    throw new CountersignError("ERR_AGENT_CONTAINED", message, { agent });
  }

  /** Contains agents, here at once; resolves with whether the store has it, so that a restart keeps it. */
  async contain(agents: readonly string[], operator: string): Promise<boolean> {
    const at = this.#clock.now();
    const added = agents.map((agent) => ({ agent, operator, at }));
    this.#contained = new Map([
      ...this.#contained,
      ...added.map((one) => [one.agent, one] as const),
    ]);
    const rows = added.map(({ agent, ...value }) => ({
      kind: "contained" as const,
      id: agent,
      value,
    }));
    try {
      await this.#store.write(CONTAINED_AGENTS, rows);
      this.#signals?.signal(SIGNAL, "");
      return true;
    } catch {
      this.#journal.error(
        { code: "CONTAINMENT_NOT_STORED", agents: agents.join(" ") },
        "the containment of agents could not be stored; a restart ends it",
      );
      return false;
    }
  }

  /** Lets an agent have runs again, at every gateway of the store; returns whether it was contained. */
  async resume(agent: string): Promise<boolean> {
    if (!this.#contained.has(agent)) return false;
    // The store first: if it fails, the agent stays contained here too.
    await this.#store.write(CONTAINED_AGENTS, [], [{ kind: "contained", id: agent }]);
    this.#signals?.signal(SIGNAL, "");
    this.#contained = new Map([...this.#contained].filter(([name]) => name !== agent));
    return true;
  }

  /** Stops following the store. */
  close(): void {
    void this.#polling?.stop();
  }

  async #read(): Promise<void> {
    const before = this.#contained;
    const { rows } = await this.#store.claim([], CONTAINED_AGENTS);
    // A change of this gateway during the read is newer than the rows.
    if (this.#contained !== before) return;
    this.#contained = new Map(
      rows.map(({ id, value }) => [
        id,
        { agent: id, operator: String(value["operator"]), at: Number(value["at"]) },
      ]),
    );
  }
}
