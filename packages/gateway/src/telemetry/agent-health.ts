/** One failed request or run of an agent. */
export type AgentFailure = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly code: string;
  readonly reason: string;
};

/** What the gateway knows about the health of one agent. */
export type AgentHealth = {
  /** `failing` when the newest result is a failure, `unknown` before the first result. */
  readonly health: "ok" | "failing" | "unknown";
  readonly lastSuccessAt?: number;
  /** The newest first. */
  readonly failures: readonly AgentFailure[];
};

const MAX_FAILURES = 20;
/** Characters of a code or a reason; an agent chooses the code of its own error. */
const MAX_TEXT = 256;

/** The results of agents since the start of the gateway. Agents come from the configuration, so there are few. */
export class AgentResults {
  readonly #agents = new Map<string, { failures: AgentFailure[]; lastSuccessAt?: number }>();

  /** Notes a run that the agent finished. */
  succeeded(agent: string, at: number): void {
    this.#of(agent).lastSuccessAt = at;
  }

  /** Notes a request or a run that failed. */
  failed(agent: string, at: number, code: string, reason: string): void {
    const { failures } = this.#of(agent);
    failures.unshift({ at, code: code.slice(0, MAX_TEXT), reason: reason.slice(0, MAX_TEXT) });
    failures.length = Math.min(failures.length, MAX_FAILURES);
  }

  /** The health of an agent. */
  healthOf(agent: string): AgentHealth {
    const { failures = [], lastSuccessAt } = this.#agents.get(agent) ?? {};
    const [newest] = failures;
    if (newest === undefined && lastSuccessAt === undefined) return { health: "unknown", failures };
    const isFailing = newest !== undefined && newest.at >= (lastSuccessAt ?? 0);
    return {
      health: isFailing ? "failing" : "ok",
      ...(lastSuccessAt === undefined ? {} : { lastSuccessAt }),
      failures: [...failures],
    };
  }

  #of(agent: string): { failures: AgentFailure[]; lastSuccessAt?: number } {
    let known = this.#agents.get(agent);
    if (known === undefined) this.#agents.set(agent, (known = { failures: [] }));
    return known;
  }
}
