import * as fc from "fast-check";
import type { PolicyDocument } from "../document/model.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import { CONTENT_PARTS } from "../vocabulary/content-part.js";
import { UI_EVENT_TYPES } from "../vocabulary/event-type.js";
import { capabilityScope } from "./arbitrary.js";

const some = { requiredKeys: [] };
const text = fc.constantFrom;
const action = text("allow" as const, "block" as const);
const classification = text(...CLASSIFICATIONS);
const classes = fc.uniqueArray(classification, { maxLength: 7 });
const name = text("foo", "fob", "del", "constructor");
const glob = text("foo", "fo?", "f*", "*", "del", "?el", "d*l", "constructor");
const component = text("modal", "toast", "interrupt", "chat-window");
const id = text("x", "xy", "main");
const target = fc.record(
  { component_type: component, component_id: id },
  { requiredKeys: ["component_type"] },
);
const header = {
  enabled: text(true, true, true, false),
  mode: text("observe" as const, "enforce" as const, "enforce" as const),
};
const says = { event_type: text(...UI_EVENT_TYPES), classification, target };
const entry = fc.record({ match: glob, ...says }, { requiredKeys: ["match"] });
const entries = fc.array(entry, { maxLength: 3 });
const match = fc.record(
  {
    event_type: text(...UI_EVENT_TYPES),
    classification,
    component_type: component,
    component_id: id,
    direction: text("inbound" as const, "outbound" as const),
    tool: glob,
  },
  { requiredKeys: [] },
);
const when = text(
  'event.classification == "display"',
  '(event)["classi" + "fication"] == "mutate"',
  "[event].exists(e, e.event_type == 'custom')",
  'event.exists(k, event[k] == "alert")',
  "counters.velocity.exists(v, v > 3)",
  "size(counters.velocity) > 1",
  "has(event.target.component_type)",
  "event.tools.exists(t, t.name == 'foo')",
  "counters.events_in_second > 4",
);
const lists = fc.record(
  {
    allow: fc.uniqueArray(glob, { maxLength: 3 }),
    block: fc.uniqueArray(glob, { maxLength: 2 }),
    default: action,
  },
  some,
);
const blocks = {
  ag_ui: fc.record(
    {
      ...header,
      transport: text("sse", "websocket", "any"),
      allow_display_without_capability: fc.boolean(),
      restricted_classifications: classes,
      max_events_per_second: fc.integer({ min: 1, max: 10 }),
      capability_scopes: fc.array(capabilityScope, { maxLength: 2 }),
    },
    some,
  ),
  ag_ui_components: fc.record(
    {
      ...header,
      allow_components: fc.uniqueArray(text("modal", "mod*", "toast", "*", "chat-window"), {
        maxLength: 3,
      }),
      allow_ids: fc.uniqueArray(
        text("modal:x", "modal:*", "modal:x*", "toast:*", "chat-window:main"),
        { maxLength: 3 },
      ),
      block_components: fc.uniqueArray(text("modal", "mod*", "toast"), { maxLength: 2 }),
      block_ids: fc.uniqueArray(text("modal:x", "modal:*", "modal:x*"), { maxLength: 2 }),
      default: action,
    },
    some,
  ),
  ag_ui_inbound: fc.record({ ...header, default: action, allow_classifications: classes }, some),
  ag_ui_classify: fc.record(
    {
      enabled: header.enabled,
      chat: target,
      tools: entries,
      custom: entries,
      raw: entries,
      activities: entries,
      interrupts: entries,
      state: fc.array(
        fc.record(
          {
            match: text("/a", "/a/b", "/a/**", "/*", "/c"),
            direction: text("inbound", "outbound"),
            ...says,
          },
          { requiredKeys: ["match"] },
        ),
        { maxLength: 3 },
      ),
      input: fc.record(
        {
          request: fc.record(says, some),
          user_message: fc.record(says, some),
          tool_result: fc.record(says, some),
          resume: fc.record(says, some),
          state: fc.record(says, some),
          context: fc.record(says, some),
          forwarded_props: fc.record(says, some),
        },
        some,
      ),
    },
    some,
  ),
  ag_ui_conditions: fc.record(
    {
      ...header,
      rules: fc.uniqueArray(
        fc.record(
          { id: text("one", "two"), match, when, effect: action, mode: header.mode },
          { requiredKeys: ["id", "when"] },
        ),
        { maxLength: 2, selector: (rule) => rule.id },
      ),
    },
    some,
  ),
  ag_ui_messages: fc.record(
    {
      ...header,
      lists: text("whole", "parts", "open"),
      unknown_user: text("block", "observe", "allow"),
      unknown_system: text("block", "observe", "allow"),
    },
    some,
  ),
  ag_ui_tools: fc.record(
    {
      ...header,
      call: lists,
      declare: lists,
      require_advertised: fc.boolean(),
      allow_agent_results: fc.boolean(),
      arguments: fc.dictionary(name, text({ type: "object" }, { type: "string" }), { maxKeys: 2 }),
      quarantine: fc.record(
        {
          denials: fc.integer({ min: 1, max: 4 }),
          window_seconds: text(60, 600),
          closes: fc.uniqueArray(text("foo", "fo*", "del"), { maxLength: 2 }),
        },
        { requiredKeys: ["denials", "window_seconds"] },
      ),
    },
    some,
  ),
  ag_ui_content: fc.record(
    {
      ...header,
      images: action,
      image_hosts: fc.uniqueArray(text("a.example", "b.example"), { maxLength: 2 }),
      links: action,
      links_in_errors: action,
      markup: action,
      hidden: action,
      sources: text("allow", "block", "resolve"),
      words: fc.uniqueArray(text("ab", "image", "abc"), { maxLength: 2 }),
      max_characters: fc.integer({ min: 1, max: 60 }),
      max_event_characters: fc.integer({ min: 1, max: 120 }),
      read: fc.uniqueArray(text(...CONTENT_PARTS), { maxLength: 4 }),
      text_appears: text("letter_by_letter", "event_by_event"),
    },
    some,
  ),
  ag_ui_order: fc.record(
    {
      ...header,
      on_error: action,
      on_warning: action,
      rules: fc.dictionary(text("run/first-event", "subagent/outcome"), action, { maxKeys: 2 }),
    },
    some,
  ),
  ag_ui_request: fc.record(
    {
      ...header,
      forwarded_props: fc.record(
        { mode: header.mode, allow: fc.uniqueArray(glob, { maxLength: 2 }) },
        some,
      ),
    },
    some,
  ),
  velocity: fc.array(
    fc.record(
      {
        ...header,
        id: text("cap", "lid"),
        match,
        max_invocations: fc.integer({ min: 1, max: 6 }),
        window_seconds: text(1, 60),
        scope: text("session", "agent"),
      },
      { requiredKeys: ["max_invocations"] },
    ),
    { maxLength: 2 },
  ),
};
/** Few blocks at a time: with many together nothing would pass. */
const rules = fc
  .subarray(Object.keys(blocks) as (keyof typeof blocks)[], { minLength: 1, maxLength: 2 })
  .chain((names) =>
    fc.record(Object.fromEntries([...names, "ag_ui" as const].map((key) => [key, blocks[key]]))),
  );
const document = fc
  .record({ mode: header.mode, rules }, { requiredKeys: ["rules"] })
  .map((one) => ({ hushspec: "0.1.0", ...one }) as unknown as PolicyDocument);

/** A policy, and one that differs from it in a few positions, at any depth. */
export const pairOfPolicies = fc
  .tuple(
    document,
    document,
    fc.array(fc.tuple(fc.nat(400), fc.boolean()), { minLength: 1, maxLength: 2 }),
  )
  .map(([one, other, places]): [PolicyDocument, PolicyDocument] => {
    const mixed = structuredClone(one);
    for (const [place, isDeep] of places) graft(mixed, other, place, isDeep);
    return [one, mixed];
  });

type Tree = Record<string, unknown>;

function graft(into: object, from: object, place: number, isDeep: boolean): void {
  let [left, right] = [into as Tree, from as Tree];
  let rest = place;
  for (let depth = 0; depth < 6; depth += 1) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(
      (key) => depth > 0 || key === "rules" || key === "mode",
    );
    const key =
      depth === 0
        ? isDeep || rest % 9 > 0
          ? "rules"
          : "mode"
        : keys[rest % Math.max(1, keys.length)];
    if (key === undefined) return;
    rest = Math.floor(rest / Math.max(1, keys.length)) + rest * 7;
    const [old, now] = [left[key], right[key]];
    const goes = isTree(old) && isTree(now) && (depth < 2 || rest % 3 > 0);
    if (!goes) {
      if (Array.isArray(left) && Number(key) > left.length) left.push(structuredClone(now));
      else if (Object.hasOwn(right, key)) left[key] = structuredClone(now);
      else if (key !== "rules" && !Array.isArray(left)) delete left[key];
      else if (Array.isArray(left)) left.splice(Number(key), 1);
      return;
    }
    [left, right] = [old, now];
  }
}

function isTree(value: unknown): value is Tree {
  return value !== null && typeof value === "object";
}
