import type { JsonObject, JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import { enforceEvent, enforceInput } from "@countersign/wire/enforce";
import { ClientState } from "../classify/client-state.js";
import type { ClientView } from "../classify/context.js";
import { classifyEnvelope } from "../classify/envelope.js";
import { classifyEvent } from "../classify/event.js";
import type { Direction, EventFacts } from "../classify/facts.js";
import { classifyInput } from "../classify/input.js";
import type { Refinements } from "../classify/refinement.js";
import { asObject } from "../base/json-object.js";

/** An event or a request to evaluate, read from a file. */
export type Subject = { readonly facts: EventFacts; readonly value: JsonObject };

/** The known context. */
export type SubjectContext = {
  readonly refinements: Refinements;
  readonly direction?: Direction;
  readonly clientTools?: ReadonlySet<string>;
  readonly toolNames?: ReadonlyMap<string, string>;
  readonly toolArguments?: ReadonlyMap<string, string>;
  /** The state of the client; on a new thread, empty. */
  readonly client?: ClientView;
};

/** A subject, or the reason why there is none. */
export type SubjectResult =
  | { readonly subject: Subject; readonly problem?: undefined }
  | { readonly subject?: undefined; readonly problem: string };

/**
 * Reads a native event, an envelope or a `RunAgentInput`, distinguished by their members, and
 * classifies it like the gateway.
 */
export function readSubject(value: JsonValue, context: SubjectContext): SubjectResult {
  const object = asObject(value);
  if (object === undefined) return { problem: "an event is a JSON object" };
  try {
    if (typeof object["event_type"] !== "undefined") {
      const direction = context.direction ?? "outbound";
      return {
        subject: { facts: classifyEnvelope(object, direction, context.refinements), value: object },
      };
    }
    if (typeof object["type"] === "string") {
      const { event } = enforceEvent(object);
      if (event === undefined)
        return { problem: `unknown event type ${object["type"].slice(0, 64)}` };
      return {
        subject: {
          facts: classifyEvent(event, {
            ...context,
            client: context.client ?? new ClientState({}),
          }),
          value: event as unknown as JsonObject,
        },
      };
    }
    if (object["messages"] !== undefined || object["threadId"] !== undefined) {
      const { input } = enforceInput(object);
      const { refinements } = context;
      return { subject: { facts: classifyInput(input, { refinements }), value: object } };
    }
  } catch (error) {
    if (isCountersignError(error)) return { problem: error.message };
    throw error;
  }
  return {
    problem: "neither an AG-UI event (type), an envelope (event_type) nor a request (threadId)",
  };
}
