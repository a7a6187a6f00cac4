import { SmallMap } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, EventOf, JsonPatch, Message } from "@countersign/wire";
import { activitySurvival, DEFAULT_PATCH_LIMITS, PatchedDocument } from "@countersign/wire/reduce";
import type { PatchLimits } from "@countersign/wire/reduce";
import type { StreamRuleId } from "../vocabulary/stream-rules.js";
import { ClientMessages } from "./client-messages.js";
import type { HeldMessages } from "./client-messages.js";
import type { ClientView, HeldActivity } from "./context.js";

/**
 * Limits of a followed state: sixteen times what a client may send back by default. Beyond them it
 * is unknown. The work of one patch is about that of the largest event, so that fifty bytes cost no
 * more than an event may.
 */
export const CLIENT_PATCH_LIMITS = {
  ...DEFAULT_PATCH_LIMITS,
  // More than an event may contain by default.
  maxOperations: 50_000,
  maxSize: 4 * 1024 * 1024,
  maxWork: 64 * 1024,
} satisfies PatchLimits;
/** Maximum number of activities whose content is followed; of others only the types are known. */
const MAX_CONTENTS = 256;

const NONE: ReadonlySet<never> = new Set();

type Activity = { type: string | undefined; content: PatchedDocument | undefined };

/**
 * The shared state and the activities of a client: the values of its request, and the deliveries
 * since. A value is unknown once it cannot be followed: beyond a limit, or after a patch that does
 * not apply here and may apply there. The next snapshot makes it known again.
 */
export class ClientState implements ClientView {
  /** Counts the recorded events: a classification of another version may be outdated. */
  version = 0;
  #state: PatchedDocument | undefined;
  #isStateAssumed: boolean;
  readonly #activities = new SmallMap<string, Activity>();
  #contents = 0;
  /** Only if a policy evaluates the changes of message lists. */
  readonly #messages: ClientMessages | undefined;

  /**
   * @param state the client's shared state; undefined when unknown
   * @param held its messages, if the changes of a list are evaluated
   * @param earlier activities of earlier runs, by id and type: no client sends them back
   * @param isAssumed the client could not send its state: `state` is that of a page that was just
   * opened
   */
  constructor(
    state: JsonValue | undefined,
    messages: readonly Message[] = [],
    held?: HeldMessages,
    earlier: Iterable<readonly [id: string, type: string | undefined]> = [],
    isAssumed = false,
  ) {
    this.#isStateAssumed = isAssumed;
    this.#messages = held === undefined ? undefined : new ClientMessages(held);
    this.#state = state === undefined ? undefined : followed(state);
    for (const [id, type] of earlier) this.#activities.set(id, { type, content: undefined });
    for (const message of messages) this.#addMessage(message);
  }

  get state(): JsonValue | undefined {
    return this.#state?.value;
  }

  get isStateAssumed(): boolean {
    return this.#isStateAssumed;
  }

  activity(messageId: string): HeldActivity | undefined {
    const known = this.#activities.get(messageId);
    return known && { type: known.type, content: known.content?.value };
  }

  droppedBy(event: EventOf<"MESSAGES_SNAPSHOT">): ReadonlySet<string | undefined> {
    if (this.#activities.size === 0) return NONE;
    return new Set(this.#missingFrom(event).map(([, { type }]) => type));
  }

  /** The ids of the activities that a message list removes from the client. */
  activitiesMissingFrom(event: EventOf<"MESSAGES_SNAPSHOT">): readonly string[] {
    return this.#missingFrom(event).map(([id]) => id);
  }

  keepsMessages(event: EventOf<"MESSAGES_SNAPSHOT">): boolean {
    return this.#messages?.isKeptBy(event) === true;
  }

  /**
   * The rule that a patch violates when it does not apply to the client's state; none if that is
   * unknown.
   */
  brokenBy(event: AgUiEvent): StreamRuleId | undefined {
    if (event.type === "STATE_DELTA") {
      const known = this.#isStateAssumed ? undefined : this.#state;
      if (known === undefined && event.delta.some(readsInherited)) return "state/patch-failed";
      if (this.#isStateAssumed) return undefined;
      return refuses(known, event.delta) ? "state/patch-failed" : undefined;
    }
    if (event.type !== "ACTIVITY_DELTA") return undefined;
    const content = this.#activities.get(event.messageId)?.content;
    if (content === undefined && event.patch.some(readsInherited)) return "activity/patch-failed";
    return refuses(content, event.patch) ? "activity/patch-failed" : undefined;
  }

  /** A client with the same activities and nothing else. Its contents are its own. */
  withActivities(): ClientState {
    const copy = new ClientState(undefined);
    for (const [id, { type, content }] of this.#activities) {
      const own = content === undefined ? undefined : followed(structuredClone(content.value));
      if (own !== undefined) copy.#contents += 1;
      copy.#activities.set(id, { type, content: own });
    }
    return copy;
  }

  /** Records a delivered event. */
  see(event: AgUiEvent): void {
    if (this.#messages?.see(event) === true) this.version += 1;
    switch (event.type) {
      case "STATE_SNAPSHOT":
        this.#state = followed(event.snapshot);
        this.#isStateAssumed = false;
        break;
      case "STATE_DELTA":
        if (!applies(this.#state, event.delta)) this.#state = undefined;
        break;
      case "ACTIVITY_SNAPSHOT": {
        const known = this.#activities.get(event.messageId);
        if (known !== undefined && event.replace === false) return;
        this.#put(event.messageId, event.activityType, event.content);
        break;
      }
      case "ACTIVITY_DELTA": {
        const known = this.#activities.get(event.messageId);
        if (known === undefined) return;
        if (!applies(known.content, event.patch)) this.#forgetContent(known);
        known.type = event.activityType;
        break;
      }
      case "MESSAGES_SNAPSHOT":
        for (const [id, activity] of this.#missingFrom(event)) {
          this.#forgetContent(activity);
          this.#activities.delete(id);
        }
        for (const message of event.messages) this.#addMessage(message);
        break;
      case "RUN_STARTED":
        for (const message of event.input?.messages ?? []) {
          if (!this.#activities.has(message.id)) this.#addMessage(message);
        }
        break;
      default:
        return;
    }
    this.version += 1;
  }

  #missingFrom(event: EventOf<"MESSAGES_SNAPSHOT">): [string, Activity][] {
    // An id may be in a list twice; any other role under it replaces the activity.
    const isActivity = new Map<string, boolean>();
    for (const { id, role } of event.messages) {
      isActivity.set(id, role === "activity" && isActivity.get(id) !== false);
    }
    const survives = activitySurvival(event);
    return [...this.#activities].filter(
      ([id, { type }]) => !(isActivity.get(id) ?? survives(type)),
    );
  }

  #addMessage(message: Message): void {
    if (message.role === "activity") this.#put(message.id, message.activityType, message.content);
  }

  #put(id: string, type: string, content: JsonValue): void {
    const known = this.#activities.get(id);
    if (known !== undefined) this.#forgetContent(known);
    const isFollowed = this.#contents < MAX_CONTENTS;
    const document = isFollowed ? followed(content) : undefined;
    if (document !== undefined) this.#contents += 1;
    this.#activities.set(id, { type, content: document });
  }

  #forgetContent(activity: Activity): void {
    if (activity.content !== undefined) this.#contents -= 1;
    activity.content = undefined;
  }
}

function followed(value: JsonValue): PatchedDocument | undefined {
  try {
    return new PatchedDocument(value, CLIENT_PATCH_LIMITS);
  } catch {
    return undefined;
  }
}

/** Names that every JavaScript object or list has, with values that are not JSON. */
const INHERITED: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype),
]);

/**
 * Whether an operation reads an inherited member of an object or a list. The official client would
 * put a function into the state, and reads the first item of a list as its `length`.
 */
function readsInherited(operation: JsonPatch[number]): boolean {
  const isTaken = (pointer: string): boolean =>
    pointer.split("/").some((segment) => INHERITED.has(segment));
  if (operation.op === "copy" || operation.op === "move") return isTaken(operation.from);
  return operation.op === "remove" && operation.path.endsWith("/length");
}

/** Whether a patch certainly does not apply; beyond a limit that is unknown. */
function refuses(document: PatchedDocument | undefined, patch: JsonPatch): boolean {
  try {
    return document?.refusalOf(patch) !== undefined;
  } catch {
    return false;
  }
}

function applies(document: PatchedDocument | undefined, patch: JsonPatch): boolean {
  try {
    return document !== undefined && document.apply(patch) === undefined;
  } catch {
    return false;
  }
}
