import { addSurface, changesInterface, SurfacePayloads } from "@countersign/policy";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceModel, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, Message, ToolCall } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";

/** Events that change the activities of a client. */
const CHANGES_ACTIVITIES: ReadonlySet<AgUiEvent["type"]> = new Set([
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "MESSAGES_SNAPSHOT",
  "RUN_STARTED",
]);

/**
 * The interfaces that the agent draws in one run. An event is read before its decision and taken back if it is blocked, so the model has
 * what the client has. Other events cost one look at their type.
 */
export class SurfaceWatch {
  readonly #run: Pick<Run, "client" | "policy">;
  /** The activities that the client has. In observe mode those of the run are what enforce mode would have delivered. */
  readonly #client: Run["client"];
  readonly #payloads: SurfacePayloads;
  /** In observe mode, the messages and calls of the list that is judged now. */
  readonly #judged = new Set<string>();
  /** Created with the first event that draws. */
  #model: SurfaceModel | undefined;

  constructor(run: Pick<Run, "client" | "policy">) {
    this.#run = run;
    this.#client = run.policy.mode === "observe" ? run.client.withActivities() : run.client;
    this.#payloads = new SurfacePayloads({
      client: this.#client,
      settings: run.policy.surfaces,
      draws: (messageId) => this.#model?.draws(messageId) === true,
    });
  }

  /** The activities that the client has. */
  get client(): Run["client"] {
    return this.#client;
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
    const payload = this.#payloads.ofCall(id, name, text, context.event);
    if (payload !== undefined) this.#apply(context, payload);
  }

  /** Reads the messages of a list that observe mode delivers although no rule has judged them again. */
  readUnjudged(list: EventContext, messages: readonly Message[]): void {
    for (const payload of messages.flatMap((message) => this.#payloads.ofMessage(message))) {
      if (this.#judged.has(sourceOf(payload))) continue;
      this.#model ??= createSurfaceModel(this.#run.policy.surfaces);
      const surface = this.#model.apply(payload);
      if (changesInterface(surface)) (list.listedSurfaces ??= []).push(surface);
    }
  }

  /** Takes back what was read from an event that is not delivered. */
  settle({ surface }: EventContext, isDelivered: boolean): void {
    if (surface !== undefined && !isDelivered) this.#model?.undo();
  }

  /** Records a delivered event, before the client of the run does: a message list removes the activities that it leaves out. */
  see(context: EventContext, event: AgUiEvent): void {
    if (!CHANGES_ACTIVITIES.has(event.type)) return;
    if (event.type === "MESSAGES_SNAPSHOT") {
      const messageIds = this.#client.activitiesMissingFrom(event);
      if (messageIds.length > 0) {
        context.removedActivities = messageIds;
        this.#model?.apply({ kind: "removal", messageIds });
      }
    }
    if (!this.#observes) return;
    this.#judged.clear();
    this.#client.see(structuredClone(event));
  }

  get #observes(): boolean {
    return this.#client !== this.#run.client;
  }

  /** Adds the components to the facts: each is a further effect of the event, with a target and a class of its own. */
  #apply(context: EventContext, payload: SurfacePayload): void {
    this.#model ??= createSurfaceModel(this.#run.policy.surfaces);
    if (context.isListedPart && this.#observes) this.#judged.add(sourceOf(payload));
    const surface = this.#model.apply(payload);
    const { facts } = context;
    // An activity that becomes another type draws nothing, and removes what it drew.
    if (!changesInterface(surface) || facts === undefined) return;
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
    if (!this.#run.policy.surfaces.isRenderingTool(name)) return undefined;
    const text = held.map(({ event: one }) => argumentsIn(one)).join("");
    return this.#payloads.ofCall(event.toolCallId, name, text, held[0]?.event ?? event);
  }
}

function sourceOf(payload: SurfacePayload): string {
  if (payload.kind === "activity") return payload.messageId;
  return "toolCallId" in payload ? payload.toolCallId : "";
}

function argumentsIn(event: AgUiEvent | undefined): string {
  return event?.type === "TOOL_CALL_ARGS" ? event.delta : "";
}
