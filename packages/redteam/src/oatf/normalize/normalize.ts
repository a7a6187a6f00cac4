import { isJsonObject } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { copyJson, textMember } from "../json/values.js";
import type { Attack, Execution, Indicator, OatfDocument, Phase } from "../model/document.js";
import { extractProtocol } from "../model/modes.js";
import type {
  NormalizedActor,
  NormalizedAttack,
  NormalizedDocument,
  NormalizedIndicator,
  NormalizedPhase,
} from "../model/normalized.js";
import { conditionOf } from "../model/pattern.js";
import { generatedId } from "../model/indicator-id.js";

/**
 * The canonical form of a valid document: defaults written out, shorthands expanded, one list of actors.
 * A new document; the given one stays as it is. Applying it twice changes nothing more.
 *
 * What a phase inherits (mode, state) and the threshold of a semantic indicator are not written out.
 */
export function normalize(document: OatfDocument): NormalizedDocument {
  const attack = isJsonObject(document.attack) ? (copyJson(document.attack) as Attack) : {};
  return {
    ...(document as { oatf: string; $schema?: string }),
    attack: normalizeAttack(attack),
  };
}

function normalizeAttack(attack: Attack): NormalizedAttack {
  const { severity, execution = {}, indicators, classification } = attack;
  // Protocols come from the mode that N-006 and N-007 are about to move.
  const protocol = extractProtocol(textMember(execution, "mode") ?? "");
  const result: NormalizedAttack = {
    ...(attack as JsonObject),
    name: attack.name ?? "Untitled",
    version: attack.version ?? 1,
    status: attack.status ?? "draft",
    execution: normalizeExecution(execution),
  } as NormalizedAttack;
  if (severity !== undefined) {
    result.severity =
      typeof severity === "string"
        ? { level: severity, confidence: 50 }
        : { ...severity, confidence: severity.confidence ?? 50 };
  }
  if (classification !== undefined) {
    const { mappings, tags } = classification;
    result.classification = {
      ...classification,
      ...(mappings === undefined
        ? {}
        : {
            mappings: mappings.map((each) => ({
              ...each,
              relationship: each.relationship ?? "primary",
            })),
          }),
      ...(tags === undefined ? {} : { tags: tags.map(normalizeTag) }),
    };
  }
  if (indicators !== undefined) {
    result.indicators = indicators.map((indicator, index) =>
      normalizeIndicator(indicator, generatedId(attack.id, index), protocol),
    );
    result.correlation = { ...attack.correlation, logic: attack.correlation?.logic ?? "any" };
  }
  return result;
}

function normalizeTag(tag: string): string {
  return tag.toLowerCase().replaceAll(/[_ ]/g, "-");
}

function normalizeExecution(execution: Execution): NormalizedAttack["execution"] {
  const { mode, state, phases, actors, ...extensions } = execution;
  const all = actors ?? shortFormActors(mode, state, phases);
  return {
    ...extensions,
    actors: all.map((actor) => ({
      ...(actor as NormalizedActor),
      phases: (actor.phases ?? []).map(normalizePhase),
    })),
  };
}

function shortFormActors(
  mode: string | undefined,
  state: JsonObject | undefined,
  phases: Phase[] | undefined,
): { name: string; mode?: string; phases: Phase[] }[] {
  const list = phases ?? (state === undefined ? undefined : [{ state }]);
  if (list === undefined) return [];
  const shared = mode ?? list[0]?.mode;
  return [{ name: "default", ...(shared === undefined ? {} : { mode: shared }), phases: list }];
}

function normalizePhase(phase: Phase, index: number): NormalizedPhase {
  const { trigger } = phase;
  return {
    ...phase,
    name: phase.name ?? `phase-${index + 1}`,
    ...(trigger?.event === undefined ? {} : { trigger: { ...trigger, count: trigger.count ?? 1 } }),
  };
}

function normalizeIndicator(
  indicator: Indicator,
  id: string,
  protocol: string | undefined,
): NormalizedIndicator {
  const { pattern, semantic, target } = indicator;
  const resolved = indicator.protocol ?? protocol;
  const condition = pattern === undefined ? undefined : conditionOf(pattern);
  return {
    ...(indicator as NormalizedIndicator),
    id: indicator.id ?? id,
    ...(resolved === undefined ? {} : { protocol: resolved }),
    ...(pattern === undefined || condition === undefined
      ? {}
      : { pattern: { target: pattern.target ?? target, condition } }),
    ...(semantic === undefined
      ? {}
      : { semantic: { ...semantic, target: semantic.target ?? target } }),
  };
}
