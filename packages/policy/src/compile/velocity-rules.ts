import type { PolicyDocument, VelocityRule } from "../document/model.js";
import type { Denial } from "./decision.js";
import type { CompiledMatch } from "./event-match.js";
import { compileMatch, matchesAny } from "./event-match.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** The scope of a cap. */
export type VelocityScope = "session" | "agent" | "capability" | "connection";

/** One cap, as a counter needs it. */
export type VelocityLimit = {
  readonly id: string;
  readonly scope: VelocityScope;
  /** `window`: at most `max` in any window. `bucket`: `max` per window on average, `capacity` at once. */
  readonly kind: "window" | "bucket";
  readonly max: number;
  readonly capacity: number;
  readonly windowMs: number;
  readonly match: CompiledMatch;
};

type Cap = { readonly limit: VelocityLimit; readonly source: VelocityRule };

/** Compiles `velocity` into caps for a counter and rules that read its numbers. */
export function compileVelocity(document: PolicyDocument): {
  limits: readonly VelocityLimit[];
  rules: Rule[];
} {
  const value = document.rules.velocity;
  const sources = value === undefined ? [] : Array.isArray(value) ? value : [value];
  const caps = sources.filter(isActive).flatMap((source, index) => capsOf(source, index));
  return {
    limits: caps.map(({ limit }) => limit),
    rules: caps.map(({ limit, source }, index) => velocityRule(document, source, limit, index)),
  };
}

/** The caps of one entry, in either notation. */
export function capsOf(source: VelocityRule, index: number): Cap[] {
  const id = source.id ?? `rule-${index + 1}`;
  const match = compileMatch(source.match);
  if (source.max_invocations !== undefined) {
    const limit: VelocityLimit = {
      id,
      scope: source.scope ?? "session",
      kind: "window",
      max: source.max_invocations,
      capacity: source.max_invocations,
      windowMs: (source.window_seconds ?? 60) * 1000,
      match,
    };
    return [{ limit, source }];
  }
  const chio = [
    ["capability", source.max_invocations_per_window],
    ["agent", source.max_requests_per_agent],
    ["session", source.max_requests_per_session],
  ] as const;
  return chio.flatMap(([scope, max]) =>
    max === undefined
      ? []
      : [
          {
            limit: {
              id: `${id}-${scope}`,
              scope,
              kind: "bucket",
              max,
              capacity: max * (source.burst_factor ?? 1),
              windowMs: (source.window_secs ?? 60) * 1000,
              match,
            },
            source,
          },
        ],
  );
}

function velocityRule(
  document: PolicyDocument,
  source: VelocityRule,
  limit: VelocityLimit,
  index: number,
): Rule {
  const { mode, onBlock } = blockSettings(document, source);
  const id = `velocity.${limit.id}` as const;
  const of = (reason: string): { denial: Denial; ending: Denial } => ({
    denial: denials(id, onBlock)("velocity_exceeded", reason),
    // A message without some of its text would still look complete.
    ending: denials(id, "end")("velocity_exceeded", reason),
  });
  const exceeded = of(
    `more than ${limit.max} events of this kind per ${limit.scope} in ${limit.windowMs / 1000} seconds`,
  );
  const uncounted = of(`events of this kind per ${limit.scope} cannot be counted for now`);
  return {
    id,
    block: "velocity",
    mode,
    perAspect: false,
    check({ event, counters }) {
      if (!matchesAny(limit.match, event)) return undefined;
      const used = counters.velocity[index];
      if (used !== undefined && used <= limit.capacity) return undefined;
      const { denial, ending } = used === Number.POSITIVE_INFINITY ? uncounted : exceeded;
      return event.eventType === "text_stream" ? ending : denial;
    },
    saw: ({ event, counters }) => ({
      matched: matchesAny(limit.match, event),
      used: counters.velocity[index] ?? null,
      max: limit.max,
    }),
  };
}
