import type { JsonSchema } from "./json-schema.js";
import { choice, closed, flag, list, text } from "./json-schema.js";
import { BLOCK_HEADER } from "./shared.js";

const MODE: Readonly<Record<string, JsonSchema>> = { mode: { $ref: "#/$defs/mode" } };
const check = (
  description: string,
  properties: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => closed(description, { ...MODE, ...properties });
const bytes = (description: string, value: number): JsonSchema => ({
  type: "integer",
  description,
  minimum: 0,
  maximum: 67_108_864,
  default: value,
});
const names = (description: string): JsonSchema =>
  list(description, text("A name; `*` matches any run of characters, `?` one."), 1000);

/** `ag_ui_request`: the content that a browser's request may have. */
export const AG_UI_REQUEST: JsonSchema = closed(
  "The content that a browser's request for a run may have. Every check also applies without this block, with the defaults named here.",
  {
    ...BLOCK_HEADER,
    unknown_keys: check(
      "Keys and content parts that AG-UI does not define, anywhere in the request.",
      {
        action: choice(
          "strip: the gateway removes them before the request is judged, and reports it on the request's record. refuse: the gateway refuses the request.",
          ["strip", "refuse"],
        ),
      },
    ),
    threads: check("A thread belongs to the principal that opened it."),
    runs: check("A run id is used once, and a thread has one run open at a time."),
    history: check("Messages of the past must be those that were delivered here.", {
      accept: choice(
        "full: the whole history each time. tail: only what is new. any: the whole history or its end, without a gap.",
        ["any", "full", "tail"],
      ),
      new_roles: list(
        "Roles of messages that a client may add.",
        choice("A role.", ["user", "tool", "system", "developer"]),
        4,
      ),
      greeting: choice(
        "An assistant message of plain text with which a page begins a new thread, before the person says anything: refuse it; or accept it.",
        ["refuse", "accept"],
      ),
      rollback: flag("Whether a client may leave out the end of the history.", false),
      unfinished: choice(
        "A message that was open when the gateway was killed. accept: accept the client's text once and record it. refuse: reject it.",
        ["accept", "refuse"],
      ),
      interleaved: choice(
        "A new message between those of the latest run, for example when a user writes while an answer arrives. accept: forward it and record it. refuse: reject it, because the answer after it does not respond to it.",
        ["accept", "refuse"],
      ),
    }),
    tool_results: check("Answers only to calls of client tools delivered on the thread, once."),
    resume: check(
      "Answers only to the thread's open interrupts, all of them, in time and in form.",
    ),
    approval: check("After an answer, the call that was shown is the one that may be made."),
    tools: check("Tools that the client declares.", {
      pinned: {
        type: "object",
        description:
          "Tools by name with the SHA-256 (hex) of their canonical JSON; given, no other tool may be declared.",
        additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
        maxProperties: 1000,
      },
      server_tools: names("Tools of the agent's own, which no client may declare."),
    }),
    state: check("The state in the request.", {
      max_bytes: bytes("Bytes of canonical JSON at most.", 262_144),
      keys: names("Keys the state may have at its top level; without this list, any."),
    }),
    context: check("Background text.", {
      max_entries: { ...bytes("Entries at most.", 100), maximum: 10_000 },
      max_bytes: bytes("Bytes of all entries together at most.", 65_536),
      descriptions: names("Descriptions an entry may have; without this list, any."),
    }),
    forwarded_props: check("Properties passed to the agent: untouched, or not at all.", {
      allow: names("Keys that may be there; `*` alone allows any."),
      max_bytes: bytes("Bytes of canonical JSON at most.", 65_536),
    }),
    actions: check("Clicks on A2UI surfaces and requests of MCP Apps, in forwardedProps.", {
      accept: choice(
        "shown: only what the thread was shown and that was not removed; an action that submits, once. any: whatever the browser claims.",
        ["shown", "any"],
      ),
      repeat: names("Names of actions that may be used more than once."),
    }),
  },
);
