import { SmallMap } from "@countersign/core";
import type { StreamRuleId } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { digestOf } from "../../thread/digest.js";
import type { MessageRecord } from "../../thread/message-record.js";
import type { StreamViolation } from "../../event/event-context.js";

/** The number of ids kept from earlier runs on one stream; a dropped id counts as never announced. */
const MAX_EARLIER = 10_000;

/** Events that open a unit, or stand alone, under the name of the subagent that they are attributed to. */
const OPENING: ReadonlySet<AgUiEvent["type"]> = new Set<AgUiEvent["type"]>([
  "TEXT_MESSAGE_START",
  "TOOL_CALL_START",
  "REASONING_START",
  "REASONING_MESSAGE_START",
  "STEP_STARTED",
  "ACTIVITY_SNAPSHOT",
  "CUSTOM",
  "RAW",
]);

/**
 * The subagents that an agent may attribute events to: those announced in this run, and those of the thread's history.
 *
 * AG-UI lets an agent attribute events without an announcement, and a page still shows them under a name. So the gateway requires the
 * announcement, which the policy judges, unless the policy allows attribution without one.
 */
export class Subagents {
  readonly #isOfThread: ((subagentRunId: string) => boolean) | undefined;
  // Small maps and not sets: most runs have no subagents, and four empty sets take 700 bytes.
  readonly #running = new SmallMap<string, true>();
  readonly #ended = new SmallMap<string, true>();
  readonly #earlier = new SmallMap<string, true>();
  /** Activities of subagents, which the agent may still update after those subagents ended. */
  readonly #activities = new SmallMap<string, true>();

  /** Without a history the gateway cannot verify the subagents that a message list names. */
  constructor(isOfThread?: (subagentRunId: string) => boolean) {
    this.#isOfThread = isOfThread;
  }

  /** The violations in the attribution of an event. For a listed message the violation names that message. */
  check(event: AgUiEvent): readonly StreamViolation[] {
    switch (event.type) {
      case "RUN_STARTED":
        this.#startOver();
        return this.#checkList(event.input?.messages ?? []);
      case "MESSAGES_SNAPSHOT":
        return this.#checkList(event.messages);
      case "RUN_FINISHED": {
        const { outcome } = event;
        if (outcome?.type !== "interrupt") return NONE;
        const isKnown = outcome.interrupts.every(({ subagentRunId: tag }) => this.#isKnown(tag));
        return isKnown ? NONE : [violationOf("subagent/not-announced")];
      }
      case "SUBAGENT_STARTED":
        this.#running.set(event.subagentRunId, true);
        return NONE;
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
        if (this.#running.delete(event.subagentRunId)) this.#ended.set(event.subagentRunId, true);
        return NONE;
      default:
        return this.#checkTag(event);
    }
  }

  #checkTag(event: AgUiEvent): readonly StreamViolation[] {
    const tag = "subagentRunId" in event ? event.subagentRunId : undefined;
    if (tag === undefined) return NONE;
    if (!this.#isKnown(tag)) return [violationOf("subagent/not-announced")];
    if (event.type === "ACTIVITY_SNAPSHOT") {
      const activity = JSON.stringify([tag, event.messageId]);
      if (this.#activities.has(activity)) return NONE;
      if (!this.#ended.has(tag)) remember(this.#activities, activity);
    }
    const isOver = OPENING.has(event.type) && this.#ended.has(tag);
    return isOver ? [violationOf("subagent/ended")] : NONE;
  }

  #checkList(messages: readonly Message[]): readonly StreamViolation[] {
    const found: StreamViolation[] = [];
    for (const { id, subagentRunId: tag } of messages) {
      if (this.#isKnown(tag)) continue;
      if (this.#isOfThread !== undefined) found.push(violationOf("subagent/not-announced", id));
      else if (tag !== undefined) remember(this.#earlier, tag);
    }
    return found;
  }

  #isKnown(tag: string | undefined): boolean {
    return (
      tag === undefined ||
      this.#running.has(tag) ||
      this.#ended.has(tag) ||
      this.#earlier.has(tag) ||
      this.#isOfThread?.(tag) === true
    );
  }

  #startOver(): void {
    for (const tag of [...this.#running.keys(), ...this.#ended.keys()]) {
      remember(this.#earlier, tag);
    }
    this.#running.clear();
    this.#ended.clear();
    this.#activities.clear();
  }
}

/** Finds a subagent among the messages of a request, and among those delivered on its thread. */
export function subagentsOf(
  messages: readonly Message[],
  delivered: Iterable<readonly [string, MessageRecord]> = [],
): (subagentRunId: string) => boolean {
  let said: Set<string | undefined> | undefined;
  let digests: Set<string> | undefined;
  return (subagentRunId) => {
    said ??= new Set(messages.map((message) => message.subagentRunId));
    if (said.has(subagentRunId)) return true;
    digests ??= new Set([...delivered].map(([, { fields }]) => fields?.["subagentRunId"] ?? ""));
    return digests.has(digestOf(subagentRunId));
  };
}

const NONE: readonly StreamViolation[] = Object.freeze([]);

function violationOf(rule: StreamRuleId, messageId?: string): StreamViolation {
  return { rule, severity: "error", ...(messageId === undefined ? {} : { messageId }) };
}

/** Adds a name; drops the oldest at the limit. */
function remember(names: SmallMap<string, true>, name: string): void {
  names.set(name, true);
  if (names.size <= MAX_EARLIER) return;
  for (const oldest of names.keys()) {
    names.delete(oldest);
    return;
  }
}
