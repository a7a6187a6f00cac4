import { isCountersignError, isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { CLIENT_PATCH_LIMITS, addSurface } from "@countersign/policy";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceFacts, SurfaceModel, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, EventOf, JsonPatch, Message, ToolCall } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";

/** Events that change the activities of a client. */
const CHANGES_ACTIVITIES: ReadonlySet<AgUiEvent["type"]> = new Set([
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "MESSAGES_SNAPSHOT",
  "RUN_STARTED",
]);

/** Characters of activities that the patches of one run may have read again: each patch is judged with all that it changes. */
const MAX_REREAD = 256 * 1024 * 1024;

/**
 * The interfaces that the agent draws in one run. An event is read before its decision and taken back if it is blocked, so the model has
 * what the client has. Other events cost one look at their type.
 */
export class SurfaceWatch {
  readonly #run: Pick<Run, "client" | "policy">;
  /** The activities that the client has. In observe mode those of the run are what enforce mode would have delivered. */
  readonly #client: Run["client"];
  #reread = 0;
  /** In observe mode, the messages and calls of the list that is judged now. */
  readonly #judged = new Set<string>();
  /** Created with the first event that draws. */
  #model: SurfaceModel | undefined;

  constructor(run: Pick<Run, "client" | "policy">) {
    this.#run = run;
    this.#client = run.policy.mode === "observe" ? run.client.withActivities() : run.client;
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
    if (!this.#run.policy.surfaces.isRenderingTool(name)) return;
    const sender = context.event === undefined ? {} : senderOf(context.event);
    this.#apply(context, {
      kind: "arguments",
      toolCallId: id,
      name,
      text,
      complete: true,
      ...sender,
    });
  }

  /** Reads the messages of a list that observe mode delivers although no rule has judged them again. */
  readUnjudged(list: EventContext, messages: readonly Message[]): void {
    for (const payload of messages.flatMap((message) => this.#payloadsOf(message))) {
      if (this.#judged.has(sourceOf(payload))) continue;
      this.#model ??= createSurfaceModel(this.#run.policy.surfaces);
      const surface = this.#model.apply(payload);
      if (isChange(surface)) (list.listedSurfaces ??= []).push(surface);
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
    if (!isChange(surface) || facts === undefined) return;
    context.surface = { facts: surface, shown: this.#model.surfaces };
    context.facts = addSurface(facts, surface, this.#run.policy.refinements);
  }

  #payloadsOf(message: Message): SurfacePayload[] {
    const sender = message.subagentRunId === undefined ? {} : { agent: message.subagentRunId };
    switch (message.role) {
      case "activity": {
        const { id: messageId, activityType, content } = message;
        return [{ kind: "activity", messageId, activityType, content, ...sender }];
      }
      case "tool": {
        const { toolCallId } = message;
        return [{ kind: "result", toolCallId, content: message.content as JsonValue, ...sender }];
      }
      case "assistant":
        return (message.toolCalls ?? []).flatMap(({ id, function: { name, arguments: text } }) =>
          this.#run.policy.surfaces.isRenderingTool(name)
            ? [{ kind: "arguments", toolCallId: id, name, text, complete: true, ...sender }]
            : [],
        );
      default:
        return [];
    }
  }

  #payloadOf(
    event: AgUiEvent,
    { facts }: EventContext,
    held: readonly EventContext[],
  ): SurfacePayload | undefined {
    switch (event.type) {
      case "ACTIVITY_SNAPSHOT": {
        const { messageId, activityType, content, replace } = event;
        // A client that has the activity ignores it. Activities of earlier runs are known by their ids alone: a page that was opened since
        // may not have them.
        const known = this.#client.activity(messageId)?.content;
        const isKept = replace === false && known !== undefined;
        return isKept
          ? undefined
          : { kind: "activity", messageId, activityType, content, ...senderOf(event) };
      }
      case "ACTIVITY_DELTA":
        return this.#afterDelta(event);
      case "TOOL_CALL_END": {
        const name = facts?.toolCalls?.[0]?.name ?? "";
        if (!this.#run.policy.surfaces.isRenderingTool(name)) return undefined;
        const { toolCallId } = event;
        const text = held.map(({ event: one }) => argumentsIn(one)).join("");
        const sender = senderOf(held[0]?.event ?? event);
        return { kind: "arguments", toolCallId, name, text, complete: true, ...sender };
      }
      case "TOOL_CALL_RESULT": {
        const { toolCallId, content } = event;
        return { kind: "result", toolCallId, content: content as JsonValue, ...senderOf(event) };
      }
      case "RUN_FINISHED":
        return isJsonObject(event.result)
          ? { kind: "resource", sourceId: event.runId, content: event.result }
          : undefined;
      default:
        return undefined;
    }
  }

  /** The activity after a patch, with the type that the patch gives it. */
  #afterDelta(event: EventOf<"ACTIVITY_DELTA">): SurfacePayload | undefined {
    const { messageId, activityType, patch } = event;
    const before = this.#client.activity(messageId);
    const { surfaces } = this.#run.policy;
    const isDrawn =
      surfaces.isRenderingActivity(activityType) ||
      surfaces.isRenderingActivity(before?.type ?? "") ||
      this.#model?.draws(messageId) === true;
    if (!isDrawn) return undefined;
    if (before?.content !== undefined && this.#reread < MAX_REREAD) {
      this.#reread += lengthOf(before.content);
    }
    const isKnown = before?.content !== undefined && this.#reread < MAX_REREAD;
    const content = isKnown ? patched(before.content, patch) : undefined;
    // The model reports content that is not known as unreadable, and the policy blocks it.
    const sender = senderOf(event);
    return { kind: "activity", messageId, activityType, content: content ?? null, ...sender };
  }
}

function sourceOf(payload: SurfacePayload): string {
  if (payload.kind === "activity") return payload.messageId;
  return "toolCallId" in payload ? payload.toolCallId : "";
}

function isChange({ isSurface, surfaces, removed }: SurfaceFacts): boolean {
  return isSurface || surfaces.length > 0 || removed.length > 0;
}

/** The subagent that an event is attributed to: it may not change what others draw. */
function senderOf(event: AgUiEvent): { readonly agent?: string } {
  const tag = "subagentRunId" in event ? event.subagentRunId : undefined;
  return tag === undefined ? {} : { agent: tag };
}

/** Characters of all texts and one for each value. */
function lengthOf(value: JsonValue): number {
  let length = 0;
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    length += typeof next === "string" ? next.length + 1 : 1;
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return length;
}

/** A copy with the patch applied: later patches change the original in place, and the model keeps what it reads. */
function patched(content: JsonValue, patch: JsonPatch): JsonValue | undefined {
  try {
    const result = applyJsonPatch(content, patch, CLIENT_PATCH_LIMITS);
    return result.applied ? structuredClone(result.document) : undefined;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}

function argumentsIn(event: AgUiEvent | undefined): string {
  return event?.type === "TOOL_CALL_ARGS" ? event.delta : "";
}
