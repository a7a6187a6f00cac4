import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, EventOf, JsonPatch, Message } from "@countersign/wire";
import { activitySurvival, DEFAULT_PATCH_LIMITS, PatchedDocument } from "@countersign/wire/reduce";
import type { PatchLimits } from "@countersign/wire/reduce";
import type { StreamRuleId } from "../vocabulary/stream-rules.js";
import { ClientMessages } from "./client-messages.js";
import type { HeldMessages } from "./client-messages.js";
import type { ClientView, HeldActivity } from "./context.js";

/**
 * Bounds of a state that is followed: sixteen times what a client may send back by default. Beyond, it is unknown.
 *
 * The work of one patch is about that of the largest event, so that fifty bytes cost no more than an event may.
 */
export const CLIENT_PATCH_LIMITS = {
  ...DEFAULT_PATCH_LIMITS,
  // More than an event may bring by default.
  maxOperations: 50_000,
  maxSize: 4 * 1024 * 1024,
  maxWork: 64 * 1024,
} satisfies PatchLimits;
/** Activities whose content is followed; of more only the types are known. */
const MAX_CONTENTS = 256;

const NONE: ReadonlySet<never> = new Set();

type Activity = { type: string | undefined; content: PatchedDocument | undefined };

/**
 * The shared state and the activities that a client has: what it sent with its request, and what was delivered since.
 *
 * A value is unknown from where it cannot be followed: beyond a bound, or after a patch that does not apply here and
 * may apply there. The next snapshot makes it known again.
 */
export class ClientState implements ClientView {
  /** Counts what was seen: a classification of another version may be out of date. */
  version = 0;
  #state: PatchedDocument | undefined;
  #isStateAssumed: boolean;
  readonly #activities = new Map<string, Activity>();
  #contents = 0;
  /** Only where a policy asks what a message list changes. */
  readonly #messages: ClientMessages | undefined;

  /**
   * @param state what the client has of the shared state; undefined where that is unknown
   * @param held its messages, where it is asked what a list changes of them
   * @param earlier activities of earlier runs, by id and type: no client sends them back
   * @param isAssumed the client could not send its state: `state` is what a page has that was just opened
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

  keepsMessages(event: EventOf<"MESSAGES_SNAPSHOT">): boolean {
    return this.#messages?.isKeptBy(event) === true;
  }

  /** The rule that a patch breaks which does not apply to what the client has; none where that is unknown. */
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

  /** Takes note of an event that is delivered. */
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
    // An id may stand in a list twice; any other role under it takes the place of the activity.
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

/** Names under which every object or list of JavaScript has something that is no JSON. */
const INHERITED: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype),
]);

/**
 * Whether an operation takes what an object or a list inherits, for all that is known of the document: the official
 * client would put a function into the state, and takes the first item of a list for its `length`.
 */
function readsInherited(operation: JsonPatch[number]): boolean {
  const isTaken = (pointer: string): boolean =>
    pointer.split("/").some((segment) => INHERITED.has(segment));
  if (operation.op === "copy" || operation.op === "move") return isTaken(operation.from);
  return operation.op === "remove" && operation.path.endsWith("/length");
}

/** Whether a patch surely does not apply; beyond a bound that is unknown. */
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
