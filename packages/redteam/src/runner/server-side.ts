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

/** Creates the bookkeeping of a server actor. */
export function createServerSide(stage: Stage): ServerSide {
  const contacted = new Set<NormalizedPhase | undefined>();
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
      contacted.add(stage.phase);
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
      for (const phase of enteredPhases) {
        if (phase.state === undefined) continue;
        const place = placeOf({ actor: actor.name, phase: phase.name });
        if (!contacted.has(phase)) {
          const message = `${place}: the agent asked the server for nothing, so its payload was not delivered`;
          context.missed({ kind: "cut_short", message });
        } else if (hasResponses(phase.state) && !answered.has(phase)) {
          const message = `${place}: the agent asked for none of its responses`;
          context.note({ code: "CS-010", message });
          // An indicator of this protocol evaluates the agent's requests: sending none is then the agent's answer.
          if (!isWatched) {
            context.missed({
              kind: "cut_short",
              message: `${message}, so they were not delivered`,
            });
          }
        }
      }
    },
  };
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
