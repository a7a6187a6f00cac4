import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import type { JsonSchema } from "./json-schema.js";
import { choice, closed, flag, text } from "./json-schema.js";

/**
 * Maximum number of entries of a name list; enough for generated policies, small enough to compile
 * at once.
 */
export const MAX_LIST = 10_000;

const EVENT_TYPE_PATTERN =
  '^(text_stream|state_update|navigation|lifecycle|form_action|notification|error|custom|custom:.{1,256}|custom\\("[^"]{1,256}"\\))$';

/** Definitions that the blocks refer to. */
export const SHARED_DEFINITIONS: Readonly<Record<string, JsonSchema>> = {
  mode: choice(
    "Whether rules block (enforce) or only record what they would have blocked (observe).",
    ["observe", "enforce"],
  ),
  on_block: choice(
    "The client's view of a block: nothing (drop), a notice in the stream (notice), or a RUN_ERROR that ends the run (end).",
    ["drop", "notice", "end"],
  ),
  default_action: choice("The action for names that are not on the lists.", ["allow", "block"]),
  classification: choice("The effect of an event on the person's screen.", CLASSIFICATIONS),
  event_type: {
    type: "string",
    description:
      "The semantic type of an event: one of the seven names, `custom` for any custom event, `custom:name` for one.",
    pattern: EVENT_TYPE_PATTERN,
  },
  target: closed(
    "A part of the screen.",
    {
      component_type: text("The kind of surface, e.g. `modal`."),
      component_id: text("The instance, e.g. `confirm-refund`."),
    },
    ["component_type"],
  ),
  event_match: closed("Which events a rule looks at; every given field must fit.", {
    event_type: { $ref: "#/$defs/event_type" },
    classification: { $ref: "#/$defs/classification" },
    component_type: text("The target's component type."),
    component_id: text("The target's component id."),
    direction: choice("Agent to person (outbound) or person to agent (inbound).", [
      "outbound",
      "inbound",
    ]),
    tool: text("The name of the tool the event belongs to; `*` matches any run of characters."),
  }),
};

/** Settings that every AG-UI block may have. */
export const BLOCK_HEADER: Readonly<Record<string, JsonSchema>> = {
  enabled: flag("Whether the block counts at all.", true),
  mode: { $ref: "#/$defs/mode" },
  on_block: { $ref: "#/$defs/on_block" },
};
