import { isDeepStrictEqual } from "node:util";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { extractProtocol, selectResponse } from "../oatf/index.js";
import type { NormalizedPhase, ResponseEntry } from "../oatf/index.js";
import { dispatchLists } from "../oatf/model/dispatch.js";
import type { Stage } from "./mode.js";
import { hasContent } from "./request.js";
import { placeOf } from "./run-stream.js";

/** The common part of MCP and A2A servers: it records messages, chooses responses, and knows which of them were delivered. */
export type ServerSide = {
  /** Checks the state of a phase that begins. The server reads it when the agent asks. */
  enter(state: JsonObject): void;
  /** Records a message of the agent. */
  receive(event: string, content: JsonValue): void;
  /** Records an own message. */
  respond(event: string, content: JsonValue): void;
  /** The entry of a dispatch list for a request, filled; `undefined` when there is none. */
  choose(entries: readonly JsonValue[], request: JsonValue): JsonObject | undefined;
  /** Content of the state was sent that is an answer to what the agent asked for. */
  delivered(): void;
  ended(): void;
};

/** Parts of a state that an agent sees when it asks for them, with the methods that show them. */
const SHOWN_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ["instructions", ["initialize"]],
  ["tools", ["tools/list"]],
  ["resources", ["resources/list"]],
  ["resource_templates", ["resources/templates/list"]],
  ["prompts", ["prompts/list"]],
  ["agent_card", ["agent_card/get", "agent/getAuthenticatedExtendedCard"]],
]);
/** Methods by which an agent uses a part that it knows without having asked for it. */
const USED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ["tools", ["tools/call"]],
  ["resources", ["resources/read"]],
  ["prompts", ["prompts/get"]],
  ["agent_card", ["message/send", "message/stream"]],
]);

/** Creates the bookkeeping of a server actor. */
export function createServerSide(stage: Stage): ServerSide {
  /** The methods that were answered in each phase. */
  const asked = new Map<NormalizedPhase | undefined, Set<string>>();
  const answered = new Set<NormalizedPhase | undefined>();
  const keep = (direction: "request" | "response", event: string, content: JsonValue): void => {
    if (!stage.record(direction, event, content)) {
      stage.missed("error", "the agent sent more than the trace may hold");
    }
    stage.observe(direction, content);
  };
  return {
    enter(state) {
      if (!hasContent(state)) stage.missed("error", "the state of the server has no payload");
    },
    receive: (event, content) => keep("request", event, content),
    respond(event, content) {
      const methods = asked.get(stage.phase) ?? new Set();
      asked.set(stage.phase, methods.add(event));
      keep("response", event, content);
    },
    choose(entries, request) {
      const entry = chooseEntry(stage, entries, request);
      if (entry !== undefined) answered.add(stage.phase);
      return entry;
    },
    delivered: () => answered.add(stage.phase),
    ended() {
      const { actor, context, enteredPhases } = stage;
      const isWatched = context.watched.has(extractProtocol(actor.mode) ?? "");
      const seen = new Map<string, JsonValue>();
      for (const phase of enteredPhases) {
        const { state } = phase;
        if (state === undefined) continue;
        const methods = asked.get(phase) ?? new Set();
        const missing = (what: string): void => {
          const place = placeOf({ actor: actor.name, phase: phase.name });
          context.missed({ kind: "cut_short", message: `${place}: the agent asked ${what}` });
        };
        if (methods.size === 0) {
          missing("the server for nothing, so its payload was not delivered");
          continue;
        }
        for (const part of unseenParts(state, methods, seen)) {
          missing(`for none of its ${part}, so they were not delivered`);
        }
        if (answered.has(phase) || !hasResponses(state)) continue;
        const place = placeOf({ actor: actor.name, phase: phase.name });
        const message = `${place}: the agent asked for none of its responses`;
        context.note({ code: "CS-010", message });
        // An indicator of this protocol evaluates the agent's requests: sending none is then the agent's answer.
        if (!isWatched) missing("for none of its responses, so they were not delivered");
      }
    },
  };
}

/**
 * The parts of a state that the agent did not see. A part that a phase repeats needs no second request; one that it
 * changes does. `seen` has what the agent saw in earlier phases.
 */
function unseenParts(
  state: JsonObject,
  methods: ReadonlySet<string>,
  seen: Map<string, JsonValue>,
): string[] {
  const isAsked = (names: readonly string[] = []): boolean =>
    names.some((name) => methods.has(name));
  return [...SHOWN_BY].flatMap(([part, shownBy]) => {
    const shown = withoutResponses(ownMember(state, part) ?? null);
    if (!hasContent(shown) || isDeepStrictEqual(seen.get(part), shown)) return [];
    if (!isAsked(shownBy) && (seen.has(part) || !isAsked(USED_BY.get(part)))) return [part];
    seen.set(part, shown);
    return [];
  });
}

/** A part as a list shows it, without what the server sends when an item is used. */
function withoutResponses(part: JsonValue): JsonValue {
  if (!Array.isArray(part)) return part;
  return part.map((item) => {
    if (!isJsonObject(item)) return item;
    const { responses: _responses, content: _content, ...shown } = item;
    return shown;
  });
}

/** The entry of a dispatch list for a request, filled, and without `synthesize`, which is reserved. */
export function chooseEntry(
  stage: Stage,
  entries: readonly JsonValue[],
  request: JsonValue,
): JsonObject | undefined {
  const entry = selectResponse(entries.filter(isJsonObject) as ResponseEntry[], request);
  if (entry === null) return undefined;
  const { when: _when, synthesize, ...written } = entry as JsonObject;
  if (synthesize !== undefined) {
    const message = "synthesize is reserved and has no effect; what is written out is sent";
    stage.context.note({ code: "W-006", message });
    if (Object.keys(written).length === 0) {
      stage.missed("unsupported", "a response has synthesize and no written content");
    }
  }
  return stage.fill(written);
}

function hasResponses(state: JsonObject): boolean {
  if (dispatchLists(state).some(({ entries }) => entries.length > 0)) return true;
  return ["resources", "elicitations"].some((key) => Array.isArray(ownMember(state, key)));
}
