import type { EventType } from "@countersign/wire";
import type { Classification } from "../vocabulary/classification.js";
import type { UiEventType } from "../vocabulary/event-type.js";
import type { InputPart } from "../vocabulary/input-part.js";

/** The target surface of a native event, before refinements. */
export type TargetSource = "none" | "chat" | "activity" | "interrupt" | "component";

/** One native event type in the classification table. */
export type ClassificationRow = {
  readonly eventType: UiEventType;
  readonly classification: Classification;
  readonly target: TargetSource;
  /** The refinement of the policy or of the event that can change the row. */
  readonly refinedBy:
    | "nothing"
    | "what it changes"
    | "role"
    | "outcome"
    | "tool"
    | "state path"
    | "activity type"
    | "custom name"
    | "raw source";
  readonly reason: string;
};

const text = (reason: string): ClassificationRow => ({
  eventType: "text_stream",
  classification: "display",
  target: "chat",
  refinedBy: "nothing",
  reason,
});
const lifecycle = (reason: string): ClassificationRow => ({
  eventType: "lifecycle",
  classification: "display",
  target: "none",
  refinedBy: "nothing",
  reason,
});
const tool = (reason: string): ClassificationRow => ({
  eventType: "custom",
  classification: "mutate",
  target: "none",
  refinedBy: "tool",
  reason,
});

/**
 * Every native AG-UI event with its effect on the user interface. `docs/classification.md` prints
 * this table and a test compares the two; a new event type breaks the build here until its row
 * exists.
 */
export const CLASSIFICATION_TABLE = {
  RUN_STARTED: lifecycle("Opens a run; shows at most a spinner."),
  RUN_FINISHED: {
    ...lifecycle(
      "Closes a run. With an interrupt outcome it asks the user for an answer, so it is form_action/submit.",
    ),
    refinedBy: "outcome",
  },
  RUN_ERROR: {
    ...lifecycle("Tells the user that the run failed; it changes nothing."),
    eventType: "error",
  },
  STEP_STARTED: lifecycle("Progress of the run."),
  STEP_FINISHED: lifecycle("Progress of the run."),
  TEXT_MESSAGE_START: {
    ...text(
      "Opens a message in the chat. In the role of user, system or developer it changes the conversation, so it is mutate.",
    ),
    refinedBy: "role",
  },
  TEXT_MESSAGE_CONTENT: text("Text for the user to read."),
  TEXT_MESSAGE_END: text("Closes a message."),
  TEXT_MESSAGE_CHUNK: {
    ...text(
      "Opens, continues or closes a message; the role has the same effect as in TEXT_MESSAGE_START.",
    ),
    refinedBy: "role",
  },
  TOOL_CALL_START: tool(
    "A tool that the client advertised runs in the client, and only the policy knows its effect. The agent's own tools are lifecycle/display in the chat.",
  ),
  TOOL_CALL_ARGS: tool("Belongs to its call and has the class of its start."),
  TOOL_CALL_END: tool("Belongs to its call; after it the client acts on the arguments."),
  TOOL_CALL_CHUNK: tool("Opens, continues or closes a call; has the class of its start."),
  TOOL_CALL_RESULT: tool(
    "Belongs to its call. Only the client can send the result for a tool of the client.",
  ),
  REASONING_START: text("Opens a span of reasoning in the chat."),
  REASONING_MESSAGE_START: text("Opens a reasoning message."),
  REASONING_MESSAGE_CONTENT: text("Reasoning for the user to read."),
  REASONING_MESSAGE_END: text("Closes a reasoning message."),
  REASONING_MESSAGE_CHUNK: text("Opens, continues or closes a reasoning message."),
  REASONING_END: text("Closes a span of reasoning."),
  REASONING_ENCRYPTED_VALUE: text("An opaque value of a message; clients do not show it."),
  STATE_SNAPSHOT: {
    eventType: "state_update",
    classification: "mutate",
    target: "none",
    refinedBy: "state path",
    reason: "Replaces the state that the application renders.",
  },
  STATE_DELTA: {
    eventType: "state_update",
    classification: "mutate",
    target: "none",
    refinedBy: "state path",
    reason: "Changes the state that the application renders, path by path.",
  },
  MESSAGES_SNAPSHOT: {
    eventType: "state_update",
    classification: "mutate",
    target: "chat",
    refinedBy: "what it changes",
    reason:
      "Replaces the whole conversation. With ag_ui_messages.lists: parts, a list that only repeats and appends is display.",
  },
  ACTIVITY_SNAPSHOT: {
    eventType: "lifecycle",
    classification: "create",
    target: "activity",
    refinedBy: "activity type",
    reason: "Puts a component that the agent chooses on the screen.",
  },
  ACTIVITY_DELTA: {
    eventType: "state_update",
    classification: "mutate",
    target: "activity",
    refinedBy: "activity type",
    reason: "Changes a component that is on the screen.",
  },
  SUBAGENT_STARTED: lifecycle("Shows that another agent takes part."),
  SUBAGENT_FINISHED: lifecycle(
    "Shows that a subagent has finished; its questions are in RUN_FINISHED.",
  ),
  SUBAGENT_ERROR: {
    ...lifecycle("Tells the user that a subagent failed."),
    eventType: "error",
  },
  RAW: {
    eventType: "custom",
    classification: "mutate",
    target: "none",
    refinedBy: "raw source",
    reason: "A foreign event that the gateway cannot read; the client may act on it.",
  },
  CUSTOM: {
    eventType: "custom",
    classification: "mutate",
    target: "none",
    refinedBy: "custom name",
    reason:
      "An application's own event. A render hint (UI_RENDER_HINT of the 0.1.0 dialect) is lifecycle/create on its component.",
  },
} as const satisfies Record<EventType, ClassificationRow>;

/**
 * The parts of a `RunAgentInput`, classified like events so that one policy covers both directions.
 */
export const INPUT_TABLE = {
  request: lifecycle("Starts a run; every request does at least this."),
  user_message: text("A message of the user."),
  tool_result: {
    ...tool("The result of a tool of the client; the agent acts on it."),
    refinedBy: "nothing",
  },
  resume: {
    eventType: "form_action",
    classification: "submit",
    target: "interrupt",
    refinedBy: "nothing",
    reason: "Answers a question of the agent, for example an approval.",
  },
  state: {
    eventType: "state_update",
    classification: "mutate",
    target: "none",
    refinedBy: "state path",
    reason: "Changes the state that the agent uses; an unchanged echo is ignored.",
  },
  context: text("Background text for the model."),
  forwarded_props: {
    eventType: "custom",
    classification: "mutate",
    target: "none",
    refinedBy: "nothing",
    reason:
      "Integrations read user ids, models and commands from it; display if the policy lists every key.",
  },
} as const satisfies Record<InputPart, ClassificationRow>;

/** Whether a name is a part of a request. */
export function isInputPart(name: string): name is InputPart {
  return Object.hasOwn(INPUT_TABLE, name);
}
