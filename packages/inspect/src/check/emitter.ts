import type { JsonObject } from "@countersign/core";
import { isJsonObject, ownMember } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { createRepairer, DEVIATIONS, PROFILES } from "@countersign/wire/dialects";
import type { Deviation, Repairer, RepairOptions, RepairResult } from "@countersign/wire/dialects";

/** The framework behind a stream, as far as the stream shows it. */
export type EmitterFacts = {
  /** Emitter profiles that fit everything seen; none where the stream shows nothing of a known framework. */
  readonly profiles: readonly string[];
  /** The gateway's repairs of this stream: how often each note occurs. */
  readonly repairs: Readonly<Record<string, number>>;
};

/** The run that a repairer compares a stream with; a recording may have no request. */
export function requestedRun(input: RunAgentInput | undefined): RepairOptions["input"] {
  return input ?? { threadId: "", runId: "", messages: [] };
}

/** The profiles that repair every deviation which these notes are about. */
export function profilesOf(notes: readonly string[]): string[] {
  const deviations = (Object.entries(DEVIATIONS) as [string, Deviation][]).flatMap(
    ([id, { note }]) => (note !== undefined && notes.includes(note) ? [id] : []),
  );
  return Object.entries(PROFILES).flatMap(([profile, rows]) => {
    const known = new Set<string>(rows.map(({ deviation }) => deviation));
    return deviations.length > 0 && deviations.every((id) => known.has(id)) ? [profile] : [];
  });
}

/** Watches a stream for the known deviations of frameworks, with the repairer that a gateway uses. */
export class EmitterDetector {
  readonly #repairer: Repairer | undefined;
  readonly #repairs = new Map<string, number>();
  readonly #named = new Set<string>();

  constructor(input: RunAgentInput | undefined) {
    this.#repairer = createRepairer({
      profile: "auto",
      endsByItself: true,
      input: requestedRun(input),
    });
  }

  /** Looks at one event after translation. */
  push(event: JsonObject): void {
    const type = ownMember(event, "type");
    if (type === "RUN_FINISHED") this.#seeReasons(event);
    this.#count(this.#repairer?.push(event));
  }

  /** The stream is over. */
  end(): void {
    this.#count(this.#repairer?.end(false));
  }

  facts(): EmitterFacts {
    // A name that the framework writes itself says more than what several frameworks do.
    const profiles =
      this.#named.size > 0 ? [...this.#named] : profilesOf([...this.#repairs.keys()]);
    return { profiles, repairs: Object.fromEntries(this.#repairs) };
  }

  /** Questions are named after the framework that asks them: `mastra:tool_suspend`. */
  #seeReasons(event: JsonObject): void {
    const outcome = ownMember(event, "outcome");
    const interrupts = isJsonObject(outcome) ? ownMember(outcome, "interrupts") : undefined;
    if (!Array.isArray(interrupts)) return;
    for (const interrupt of interrupts) {
      const reason = isJsonObject(interrupt) ? ownMember(interrupt, "reason") : undefined;
      const [framework = ""] = typeof reason === "string" ? reason.split(":", 1) : [];
      if (Object.hasOwn(PROFILES, framework)) this.#named.add(framework);
    }
  }

  #count(result: RepairResult | undefined): void {
    for (const { rule } of result?.notes ?? []) {
      this.#repairs.set(rule, (this.#repairs.get(rule) ?? 0) + 1);
    }
  }
}
