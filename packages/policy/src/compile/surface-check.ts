import type { JsonObject } from "@countersign/core";
import type { SurfaceComponent } from "@countersign/surface";
import type { ShownPart } from "../classify/facts.js";
import type { BlockHeader, PolicyDocument } from "../document/model.js";
import { matchSurfaceRequest, readSurfaceRequests } from "../surface/request.js";
import type { MatchedRequest, ShownToThread } from "../surface/request.js";
import { shownPartOf } from "../surface/view.js";
import type { SurfaceView } from "../surface/view.js";
import type { Denial, ReasonCode } from "./decision.js";
import type { DecisionFacts } from "./facts.js";
import type { PolicyRuleId } from "./rule-meanings.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** The finding of a check, in words for the receipt. */
export type Finding = {
  readonly reason: string;
  readonly shown?: ShownPart;
  readonly path?: string;
  readonly remedy?: string;
};

/** One check of `ag_ui_surfaces` or `ag_ui_apps`. */
export type SurfaceCheck = {
  readonly id: PolicyRuleId;
  readonly code: ReasonCode;
  /** Whether `enabled: false` of its block leaves it on. */
  readonly isAlwaysOn?: boolean;
  find(facts: DecisionFacts): Finding | undefined;
};

/** The rules of one block; its defaults also apply without it. */
export function rulesOfChecks(
  document: PolicyDocument,
  block: "ag_ui_surfaces" | "ag_ui_apps",
  checks: readonly SurfaceCheck[],
): Rule[] {
  const header: BlockHeader = document.rules[block] ?? {};
  const { mode, onBlock } = blockSettings(document, header);
  return checks
    .filter(({ isAlwaysOn }) => isAlwaysOn === true || isActive(header))
    .map(({ id, code, find }): Rule => {
      const make = denials(id, onBlock);
      return {
        id,
        block,
        mode,
        perAspect: false,
        check(facts): Denial | undefined {
          const finding = find(facts);
          if (finding === undefined) return undefined;
          const { reason, shown, path, remedy } = finding;
          return Object.freeze({
            ...make(code, reason),
            ...(shown === undefined ? {} : { component: shown }),
            ...(path === undefined ? {} : { path }),
            ...(remedy === undefined ? {} : { remedy }),
          });
        },
        saw,
      };
    });
}

function saw(facts: DecisionFacts): JsonObject {
  const { components = [], problems = [] } = facts.surface?.facts ?? {};
  return {
    components: components.length,
    problems: problems.length,
    requests: requestsOf(facts).length,
  };
}

/** The first finding in the components that an event changes. */
export function firstComponent(
  find: (component: SurfaceComponent, surface: SurfaceView) => string | undefined,
): SurfaceCheck["find"] {
  return ({ surface }) => {
    if (surface === undefined) return undefined;
    for (const component of surface.facts.components) {
      const what = find(component, surface);
      if (what !== undefined) {
        return { reason: `${nameOf(component)} ${what}`, shown: shownPartOf(component) };
      }
    }
    return undefined;
  };
}

/** The first finding in what a request says about surfaces. */
export function firstRequest(
  find: (matched: MatchedRequest) => Omit<Finding, "path" | "shown"> | undefined,
): SurfaceCheck["find"] {
  return (facts) => {
    for (const matched of requestsOf(facts)) {
      const finding = find(matched);
      if (finding === undefined) continue;
      const { request, shown } = matched;
      return { ...finding, path: request.path, ...(shown === undefined ? {} : { shown }) };
    }
    return undefined;
  };
}

/** A thread that was shown nothing: without a model no click is known. */
const NOTHING: ShownToThread = { surfaces: [], findAction: () => undefined };

/** The claims of a request; a request that was not compared with a thread matches nothing. */
export function requestsOf({
  event,
  requests,
  variables,
}: DecisionFacts): readonly MatchedRequest[] {
  if (requests !== undefined) return requests;
  const input = variables?.event;
  if (event.direction !== "inbound" || input === undefined) return [];
  return readSurfaceRequests(input).map((request) => matchSurfaceRequest(request, NOTHING));
}

/** `a2ui:Button "s1/b"`. */
export function nameOf({ componentType, componentId }: SurfaceComponent): string {
  return `${quoted(componentType).slice(1, -1)} ${quoted(componentId)}`;
}

const LONGEST_NAME = 80;

/** A name of an agent, short and printable. */
export function quoted(name: string): string {
  const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
  return JSON.stringify(short).replace(/[^\x20-\x7e…]/gu, (letter) =>
    /[\p{L}\p{N}\p{P}\p{S}]/u.test(letter) ? letter : `\\u{${letter.codePointAt(0)?.toString(16)}}`,
  );
}
