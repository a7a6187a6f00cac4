import type { AgUiEvent } from "../model/event.js";
import { Random } from "./random.js";

const IDS = ["m1", "m2", "k1", "c1", "kc1", "r1", "a1", "s1", "zz"];
const ID_FIELDS = ["messageId", "toolCallId", "stepName", "entityId", "runId", "parentMessageId"];

type Mutation = (random: Random, events: AgUiEvent[], index: number) => void;

function fieldsOf(event: AgUiEvent): Record<string, unknown> {
  return event as unknown as Record<string, unknown>;
}

/**
 * Changes that a broken or hostile producer makes to a stream, one each; the events stay
 * well-formed.
 */
const MUTATIONS: Readonly<Record<string, Mutation>> = {
  drop: (_random, events, index) => void events.splice(index, 1),
  duplicate: (_random, events, index) =>
    void events.splice(index, 0, ...events.slice(index, index + 1)),
  move: (random, events, index) => {
    const [event] = events.splice(index, 1);
    if (event !== undefined) events.splice(random.below(events.length + 1), 0, event);
  },
  retag: (random, events, index) => {
    const event = events[index];
    if (event === undefined || /^RUN_|^MESSAGES_|^SUBAGENT_/u.test(event.type)) return;
    const copy = fieldsOf({ ...event });
    if (random.chance(0.4)) delete copy["subagentRunId"];
    else copy["subagentRunId"] = random.pick(["s1", "s2", ""]);
    events[index] = copy as unknown as AgUiEvent;
  },
  rename: (random, events, index) => {
    const event = events[index];
    if (event === undefined) return;
    const copy = fieldsOf({ ...event });
    const present = ID_FIELDS.filter((field) => field in copy);
    if (present.length > 0) copy[random.pick(present)] = random.pick(IDS);
    events[index] = copy as unknown as AgUiEvent;
  },
  inject: (random, events, index) => {
    const custom: AgUiEvent = { type: "CUSTOM", name: "x", value: 1 };
    const error: AgUiEvent = { type: "RUN_ERROR", message: "x" };
    const started: AgUiEvent = { type: "RUN_STARTED", threadId: "t1", runId: "again" };
    events.splice(index, 0, random.pick([custom, error, started]));
  },
  cut: (_random, events, index) => void (events.length = index),
};

/** The stream with one to three changes; the given events are not altered. */
export function mutateStream(seed: number, events: readonly AgUiEvent[]): AgUiEvent[] {
  const random = new Random(seed ^ 0x9e3779b9);
  const mutated = [...events];
  for (let count = 1 + random.below(3); count > 0 && mutated.length > 0; count--) {
    const mutation = random.pick(Object.values(MUTATIONS));
    mutation(random, mutated, random.below(mutated.length));
  }
  return mutated;
}
