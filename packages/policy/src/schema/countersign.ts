import type { JsonSchema } from "./json-schema.js";
import { choice, closed, flag, list, text } from "./json-schema.js";
import { BLOCK_HEADER, MAX_LIST } from "./shared.js";

const refinement: Readonly<Record<string, JsonSchema>> = {
  event_type: { $ref: "#/$defs/event_type" },
  classification: { $ref: "#/$defs/classification" },
  target: { $ref: "#/$defs/target" },
};
const entries = (
  description: string,
  match: JsonSchema,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema =>
  list(
    description,
    closed(
      "The class, type and target of events with this name.",
      { match, ...refinement, ...more },
      ["match"],
    ),
    1000,
  );
const nameGlob = text("A name; `*` matches any run of characters, `?` one.");
const pathGlob: JsonSchema = {
  type: "string",
  description: "A JSON Pointer; `*` matches within a segment, `**` any number of segments.",
  pattern: "^(/([^/~]|~[01])*)*$",
  maxLength: 512,
};
const inputPart = (description: string): JsonSchema => closed(description, refinement);

/** `ag_ui_classify`: the policy's additions to the classification table. */
export const AG_UI_CLASSIFY: JsonSchema = closed(
  "The classes of tools, custom events, activities, interrupts and state paths; the first matching entry decides.",
  {
    enabled: flag("Whether the block counts at all.", true),
    chat: { $ref: "#/$defs/target" },
    tools: entries("Tool calls by tool name.", nameGlob),
    custom: entries("CUSTOM events by name.", nameGlob),
    raw: entries("RAW events by source.", nameGlob),
    activities: entries("Activities by activity type.", nameGlob),
    interrupts: entries("Interrupts by reason.", nameGlob),
    components: entries(
      "Components of generative UI by type, such as a2ui:Text; their ids stay as they are.",
      nameGlob,
    ),
    state: entries("State changes by path.", pathGlob, {
      direction: choice(
        "The direction of changes: the agent's to the screen (outbound) or the browser's to the agent (inbound); default both.",
        ["outbound", "inbound"],
      ),
    }),
    input: closed("Parts of a client's request.", {
      request: inputPart("Every request."),
      user_message: inputPart("A new message of the person."),
      tool_result: inputPart("The answer to a call of a client tool."),
      resume: inputPart("The answer to an interrupt."),
      state: inputPart("State that differs from what the agent sent last."),
      context: inputPart("Background text."),
      forwarded_props: inputPart("Properties passed through to the agent."),
    }),
  },
);

const conditionRule = closed(
  "One condition.",
  {
    id: { ...text("A name for reasons, tests and metrics.", 64), pattern: "^[A-Za-z0-9._-]+$" },
    match: { $ref: "#/$defs/event_match" },
    when: text("A CEL expression over event, message, session, capability and counters.", 4096),
    effect: choice(
      "block: blocked when the expression is true. allow: of the matched events only those for which it is true pass.",
      ["block", "allow"],
    ),
    reason: text("The reason a blocked event gets.", 200),
    mode: { $ref: "#/$defs/mode" },
    on_block: { $ref: "#/$defs/on_block" },
  },
  ["id", "when"],
);

/** `ag_ui_conditions`: CEL over the event and its context. */
export const AG_UI_CONDITIONS: JsonSchema = closed(
  "Conditions in CEL. A condition that cannot be evaluated blocks.",
  { ...BLOCK_HEADER, rules: list("The conditions, all of which must pass.", conditionRule, 256) },
);

const nameLists = (description: string): JsonSchema =>
  closed(description, {
    allow: list("Names that may.", nameGlob, MAX_LIST),
    block: list("Names that may not; wins over allow.", nameGlob, MAX_LIST),
    default: { $ref: "#/$defs/default_action" },
  });

/** `ag_ui_tools`: the tools that may be called or declared. */
export const AG_UI_TOOLS: JsonSchema = closed(
  "Which tools may be called by the agent or declared by the client, and with which arguments.",
  {
    ...BLOCK_HEADER,
    call: nameLists("Tools the agent may call; without this key the names are not checked."),
    declare: nameLists("Tools a client may declare; without this key the names are not checked."),
    require_advertised: flag("Refuse calls of tools the client has not advertised.", false),
    allow_agent_results: flag(
      "Let the agent send the result of a tool only the client can answer.",
      false,
    ),
    arguments: {
      type: "object",
      description: "A JSON Schema per tool name. The call is held until its arguments are whole.",
      additionalProperties: { type: "object", description: "A JSON Schema (2020-12)." },
      maxProperties: 500,
    },
    quarantine: closed(
      "Closes a thread's tools after repeated denials, until fewer of them lie within the window; off when left out.",
      {
        denials: {
          type: "integer",
          description: "Denied calls on one thread within the window that close its tools.",
          minimum: 1,
          maximum: 100,
        },
        window_seconds: {
          type: "integer",
          description: "Length of the window; also how long the tools stay closed at most.",
          minimum: 1,
          maximum: 86_400,
        },
        closes: list("Names of the tools that are closed; all when left out.", nameGlob, MAX_LIST),
      },
      ["denials", "window_seconds"],
    ),
  },
);
