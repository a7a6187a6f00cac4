import { assertWithin } from "@countersign/core";
import type { AgUiEvent, JsonPatch } from "@countersign/wire";
import { enforceEvent } from "@countersign/wire/enforce";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { listOf } from "../../event/unit.js";
import { assertEventIdentifiers } from "./identifiers.js";

/** Validates every event against the AG-UI 1.0 schema. It drops and reports unknown members; malformed input ends the run. */
export const enforce: Stage = {
  name: "enforce",
  open: (run, next) => new Enforcer(run, next),
};

/** The gateway judges, compares and records each listed message or tool call, which costs as much as ten values. */
const VALUES_PER_MESSAGE = 10;

/** The messages of a list, with the tool calls on them. */
function countListed(event: AgUiEvent): number {
  const messages = listOf(event);
  if (messages === undefined) return 0;
  let count = messages.length;
  for (const message of messages) {
    if (message.role === "assistant") count += message.toolCalls?.length ?? 0;
  }
  return count;
}

/** An operation of a patch: the object, its verb, its pointer and its value or second pointer. */
const VALUES_PER_OPERATION = 4;

/** The values of a patch. Each segment of a pointer after the first, and each escape, costs as much as another value. */
function countPatched(event: AgUiEvent, maxDepth: number): number {
  const patch = patchOf(event);
  let count = VALUES_PER_OPERATION * patch.length;
  for (const operation of patch) {
    count += countFurther(operation.path, maxDepth);
    if ("from" in operation) count += countFurther(operation.from, maxDepth);
  }
  return count;
}

function patchOf(event: AgUiEvent): JsonPatch {
  if (event.type === "STATE_DELTA") return event.delta;
  return event.type === "ACTIVITY_DELTA" ? event.patch : [];
}

/** A pointer with more segments than a document has levels names nothing. */
function countFurther(pointer: string, maxDepth: number): number {
  const segments = countIn(pointer, "/");
  assertWithin("maxDepth", segments, maxDepth);
  return Math.max(0, segments - 1) + countIn(pointer, "~");
}

function countIn(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}

class Enforcer extends PassingStep {
  readonly #run: Run;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
  }

  push(context: EventContext): void {
    if (context.value === undefined) return this.next.push(context);
    const { event, notes } = enforceEvent(context.value);
    if (notes.length > 0) this.#run.observer.notes(notes);
    if (event === undefined) return;
    const { maxDepth, maxEventValues, maxIdLength } = this.#run.limits;
    assertWithin("maxEventValues", VALUES_PER_MESSAGE * countListed(event), maxEventValues);
    assertWithin("maxEventValues", countPatched(event, maxDepth), maxEventValues);
    assertEventIdentifiers(event, maxIdLength);
    context.event = event;
    this.next.push(context);
  }
}
