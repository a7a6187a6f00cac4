import { SurfacePayloads, addSurface, isRenderTool, payloadOfCall } from "@countersign/policy";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceModel, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, ToolCall } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";

/**
 * The interfaces that the agent draws in one run. An event is read before its decision and taken back if it is blocked, so the model has
 * what the client has. Other events cost one look at their type.
 */
export class SurfaceWatch {
  readonly #run: Pick<Run, "client" | "policy">;
  readonly #payloads: SurfacePayloads;
  /** Created with the first event that draws. */
  #model: SurfaceModel | undefined;

  constructor(run: Pick<Run, "client" | "policy">) {
    this.#run = run;
    this.#payloads = new SurfacePayloads(run.client);
  }

  /** The interfaces that the client has; undefined while nothing was drawn. */
  get model(): SurfaceModel | undefined {
    return this.#model;
  }

  /** Reads an event, or the end of a held tool call with its events. */
  read(context: EventContext, held: readonly EventContext[] = []): void {
    const { event } = context;
    const payload = event && this.#payloadOf(event, context, held);
    if (payload !== undefined) this.#apply(context, payload);
  }

  /** Reads a tool call of a message list. */
  readCall(context: EventContext, { id, function: { name, arguments: text } }: ToolCall): void {
    const payload = payloadOfCall(id, name, text);
    if (payload !== undefined) this.#apply(context, payload);
  }

  /** Takes back what was read from an event that is not delivered. */
  settle({ surface }: EventContext, isDelivered: boolean): void {
    if (surface !== undefined && !isDelivered) this.#model?.undo();
  }

  /** Records a delivered event: a message list removes the activities that it leaves out. */
  see(context: EventContext, event: AgUiEvent): void {
    if (event.type !== "MESSAGES_SNAPSHOT") return;
    const messageIds = this.#run.client.activitiesMissingFrom(event);
    if (messageIds.length === 0) return;
    context.removedActivities = messageIds;
    this.#model?.apply({ kind: "removal", messageIds });
  }

  /** Adds the components to the facts: each is a further effect of the event, with a target and a class of its own. */
  #apply(context: EventContext, payload: SurfacePayload): void {
    this.#model ??= createSurfaceModel({ limits: this.#run.policy.surfaces.limits });
    const surface = this.#model.apply(payload);
    const { facts } = context;
    // An activity that becomes another type draws nothing, and removes what it drew.
    const isChange = surface.isSurface || surface.surfaces.length > 0 || surface.removed.length > 0;
    if (!isChange || facts === undefined) return;
    context.surface = { facts: surface, shown: this.#model.surfaces };
    context.facts = addSurface(facts, surface, this.#run.policy.refinements);
  }

  #payloadOf(
    event: AgUiEvent,
    { facts }: EventContext,
    held: readonly EventContext[],
  ): SurfacePayload | undefined {
    if (event.type !== "TOOL_CALL_END") return this.#payloads.of(event);
    const name = facts?.toolCalls?.[0]?.name ?? "";
    if (!isRenderTool(name)) return undefined;
    const text = held.map(({ event: one }) => argumentsIn(one)).join("");
    return payloadOfCall(event.toolCallId, name, text);
  }
}

function argumentsIn(event: AgUiEvent | undefined): string {
  return event?.type === "TOOL_CALL_ARGS" ? event.delta : "";
}
