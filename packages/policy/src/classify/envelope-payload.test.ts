import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NO_COUNTERS } from "../compile/facts.js";
import { compileRefinements } from "./refinement.js";
import { policyOf } from "../testing/judge.js";
import { CLASSIFICATIONS, isAtLeastAsStrict } from "../vocabulary/classification.js";
import type { Classification } from "../vocabulary/classification.js";
import { UI_EVENT_TYPES } from "../vocabulary/event-type.js";
import { PAYLOAD_FORMS } from "./envelope-payload.js";
import { classifyEnvelope } from "./envelope.js";
import { classifyEvent } from "./event.js";

function derived(event_type: JsonValue, payload: JsonValue, rest: JsonObject = {}): Classification {
  return classifyEnvelope({ event_type, payload, ...rest }, "outbound").derived;
}

const lifecycle = (payload: JsonValue): Classification => derived("lifecycle", payload);

test.each<[JsonValue, Classification]>([
  [{}, "display"],
  [null, "display"],
  [{ action: "run_started", run_id: "r1", timestamp: 3 }, "display"],
  [{ event: "step_started", step: "Looking up the order" }, "display"],
  [{ type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" }, "display"],
  [{ fields: ["order_id", "reason"] }, "create"],
  [{ title: "Close account", fields: [{ name: "reason", type: "text" }] }, "create"],
  [{ action: "open", order: { number: 5 } }, "create"],
  [{ action: "update", title: "New" }, "mutate"],
  [{ action: ["close"] }, "destroy"],
  [{ action: { type: "close" } }, "destroy"],
  [{ action: "close modal" }, "destroy"],
  [{ action: "openThenVanish" }, "destroy"],
  [{ action: [] }, "destroy"],
  [{ action: true }, "destroy"],
  [{ component: { action: "CLOSE" } }, "destroy"],
  [{ steps: [{ do: [{ x: "closeModal" }] }] }, "destroy"],
  [{ close: true }, "destroy"],
  [{ open: false }, "destroy"],
  [{ Visible: 0 }, "destroy"],
  [{ props: { isOpen: false } }, "destroy"],
  [{ zzz: "vanish" }, "destroy"],
  [{ action: "started", fields: ["iban"] }, "destroy"],
  [{ step: "close" }, "destroy"],
  [{ event: "step_started", step: "CLOSEMODAL" }, "destroy"],
  [{ event: "step_started", step: "submit form and pay" }, "destroy"],
  [{ event: "step_started", step: "now closeModal please" }, "destroy"],
  [{ event: "step_started", step: "authorize" }, "destroy"],
  [{ event: "step_started", step: "Grant access" }, "destroy"],
  [{ event: "step_started", step: "Sending the payload of the next_item…" }, "display"],
  [{ event: "step_started", step: "Checking addresses and payments" }, "display"],
  [{ event: "step_started", step: "closemodaling" }, "destroy"],
  [{ data: { "close the modal": 1 } }, "destroy"],
  [{ data: { popupReset: 1 } }, "destroy"],
  [{ id: "menuClear" }, "destroy"],
  [{ id: "processKill" }, "destroy"],
  [{ aCtion: "nothing known" }, "destroy"],
  ["close", "destroy"],
  [["x"], "destroy"],
])("a lifecycle payload %j is %s", (payload, expected) => {
  expect(lifecycle(payload)).toBe(expected);
});

test("a lifecycle envelope with a target is never only shown", () => {
  const target = { component_type: "form" };
  expect(derived("lifecycle", {}, { target })).toBe("create");
  expect(derived("lifecycle", { action: "started" }, { target })).toBe("destroy");
});

test("a payload of several thousand values is judged without looking at each", () => {
  const items = Array.from({ length: 20_000 }, () => 1);
  expect(lifecycle({ items })).toBe("destroy");
});

const NOMINAL = [
  ["text_stream", { text: "hi", message_id: "m", done: false }, "display"],
  ["text_stream", "hi", "display"],
  ["error", { message: "failed", code: 500, retryable: true }, "display"],
  ["notification", { title: "Done", message: "3 files", level: "info" }, "alert"],
  ["navigation", { route: "/orders", params: { id: 5 }, replace: true }, "navigate"],
] as const satisfies readonly (readonly [string, JsonValue, Classification])[];

test.each(NOMINAL)("a %s with the payload %j keeps the class of its type: %s", (...row) => {
  const [type, payload, expected] = row;
  expect(derived(type, payload)).toBe(expected);
});

const strange = fc
  .tuple(
    fc.stringMatching(/^[a-zA-Z_]{1,12}$/).map((name) => `x_${name}`),
    fc.jsonValue({ maxDepth: 2 }),
  )
  .map(([name, value]) => ({ [name]: value as JsonValue }));

test.each(NOMINAL)(
  "a %s with one member more is judged as the strictest class",
  (type, payload) => {
    fc.assert(
      fc.property(strange, (more) => {
        const rest: JsonObject = typeof payload === "string" ? {} : payload;
        expect(derived(type, { ...rest, ...more })).toBe("submit");
      }),
    );
  },
);

test("no member of a text, an error, a notice or a destination may hold a list or an object", () => {
  for (const [type, payload] of NOMINAL) {
    if (typeof payload === "string") continue;
    for (const name of Object.keys(payload)) {
      for (const value of [[], [{ url: "x" }], { a: { b: 1 } }]) {
        expect(derived(type, { ...payload, [name]: value })).toBe("submit");
      }
    }
  }
});

test("the role of a text is the assistant's", () => {
  expect(derived("text_stream", { text: "x", role: "user" })).toBe("submit");
  expect(derived("text_stream", { text: "x", role: "assistant" })).toBe("display");
});

test("a text has one spelling of each id: clients differ in which of two they read", () => {
  for (const [one, other] of [
    ["run_id", "runId"],
    ["thread_id", "threadId"],
    ["id", "messageId"],
  ] as const) {
    expect(derived("text_stream", { text: "x", [one]: "a" })).toBe("display");
    expect(derived("text_stream", { text: "x", [one]: "a", [other]: "a" })).toBe("submit");
  }
});

// The same verb, in any notation of an agent.
const VERBS = ["create", "Mounted", "open", "update", "changed", "close", "DESTROYED", "unmount"];
const verb = fc.constantFrom(...VERBS);
const name = fc.oneof(
  fc.constantFrom("action", "lifecycle", "event", "op", "type", "kind", "id", "title", "step"),
  fc.constantFrom("ACTION", "do", "props", "component", "data", "run_id"),
  fc.stringMatching(/^[a-z]{1,8}$/),
);
const wrap = fc.constantFrom<(value: JsonValue, name: string) => JsonValue>(
  (value, key) => ({ [key]: value }),
  (value) => [value],
  (value) => [0, value, null],
  (value, key) => ({ fields: ["a"], [key]: value }),
);
const moved = fc.array(fc.tuple(wrap, name), { minLength: 1, maxLength: 4 });
const letters = fc.stringMatching(/^[A-Za-z]{0,8}$/u);
const cases = fc.array(fc.boolean(), { minLength: 16, maxLength: 16 });
/** Any letter case, within any letters: `UIClose`, `CLOSEMODAL`, `myclOsexy`. */
const spelled = fc.oneof(
  fc.constantFrom<(word: string) => string>(
    (word) => word,
    (word) => ` ${word} `,
    (word) => `${word}_modal`,
    (word) => `modal.${word}`,
    (word) => `${word}\u200B`,
    (word) => `${word}_${"x".repeat(80)}`,
    (word) =>
      word.replace(/^\w/u, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)),
  ),
  fc.tuple(letters, cases, letters).map(([before, isUpper, after]) => (word: string) => {
    const spelling = [...word.toLowerCase()]
      .map((letter, at) => (isUpper[at] === true ? letter.toUpperCase() : letter))
      .join("");
    return `${before}${spelling}${after}`;
  }),
);
/** A verb as a value, as the name of a member, or both. */
const placed = fc.constantFrom<(text: string) => JsonValue>(
  (text) => text,
  (text) => ({ [text]: 1 }),
  (text) => ({ [text]: text }),
);

test("a verb that is moved, nested, listed, renamed or spelled otherwise never gives a weaker class", () => {
  fc.assert(
    fc.property(verb, moved, spelled, placed, fc.boolean(), (...drawn) => {
      const [word, places, spell, place, hasTarget] = drawn;
      const target = { component_type: "modal" };
      const plain = derived("lifecycle", { action: word }, hasTarget ? { target } : {});
      let payload: JsonValue = place(spell(word));
      for (const [inside, key] of places) payload = inside(payload, key);
      const hidden = derived("lifecycle", payload, hasTarget ? { target } : {});
      expect(isAtLeastAsStrict(hidden, plain)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

// Words with which interfaces name the end of what they show, and their regular forms; not those of the sources.
const ENDING =
  "erase,wipe,shut,toggle,purge,discard,vanish,conceal,abort,quit,swap,evict,flush,retract,dismantle,delete,remove,close,clear,drop," +
  "collapse,terminate,replace,unrender,deactivate,deallocate,disassemble,unregister,unmount,teardown,takeDown,powerOff,fadeOut";
const formed = fc.constantFrom<(word: string) => string>(
  (word) => word,
  (word) => `${word}s`,
  (word) => `${word.replace(/e$/u, "")}ed`,
  (word) => `${word.replace(/e$/u, "")}ing`,
  (word) => `${word}Modal`,
  (word) => `on${word}`,
  (word) => `modal_${word}`,
);

test("a verb that ends something is destroy in each of its forms, beside any other verb and in any place", () => {
  const word = fc.constantFrom(...ENDING.split(","));
  const other = fc.constantFrom<JsonObject>({ action: "update" }, { action: "open" }, {});
  fc.assert(
    fc.property(word, formed, other, moved, placed, (one, form, beside, places, place) => {
      let payload: JsonValue = place(form(one));
      for (const [inside, key] of places) payload = inside(payload, key);
      expect([payload, lifecycle({ ...beside, props: payload })]).toEqual([payload, "destroy"]);
    }),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(word, (one) => {
      const step = `please ${one} it`;
      expect([step, lifecycle({ event: "step_started", step })]).toEqual([step, "destroy"]);
    }),
  );
});

test("the step of a run holds no verb, in any letter case, alone, within a name or within a sentence", () => {
  const word = fc.constantFrom("close", "remove", "submit", "pay", "authorize", "grant", "show");
  const sentence = fc.constantFrom("", "now ", "please do ");
  fc.assert(
    fc.property(word, spelled, sentence, sentence, (one, spell, before, after) => {
      const step = `${before}${spell(one)} ${after}`;
      expect([step, lifecycle({ event: "step_started", step })]).toEqual([step, "destroy"]);
    }),
    { numRuns: 2000 },
  );
});

test("ordinary names and ids that contain the letters of a verb by chance are not verbs", () => {
  const ordinary =
    "address,shippingAddress,ADDRESS_LINE,amount,amountDue,padding,dropdown,DropdownMenu,dropzone,backdrop,preset,skills,nextItem," +
    "next_item,text_items,complexity,indeterminate,dismissible,cancellation_policy,openingHours,branchIdentifier,branch_identifier," +
    "techIdeas,publicLearning,exchange_rate,ladder,mountain,unclear,shutterSpeed,shuttle,swipeable,homeEquity,quite,cameraSelected," +
    "returnOffer,destructive,truncated,expires,status,model,rollout,layout,timeout,countdown,description,backgroundOpacity";
  for (const name of ordinary.split(",")) {
    expect([name, lifecycle({ props: { [name]: name } })]).toEqual([name, "create"]);
    expect([name, lifecycle({ event: "step_started", step: name })]).toEqual([name, "display"]);
  }
  const image = `data:image/png;base64,${"CloseHide/".repeat(20)}==`;
  expect(lifecycle({ props: { src: image } })).toBe("create");
  fc.assert(
    fc.property(fc.oneof(fc.uuid(), fc.stringMatching(/^[0-9a-f]{32}$/)), (id) => {
      expect(lifecycle({ action: "run_started", run_id: id })).toBe("display");
      expect(lifecycle({ action: "update", id })).toBe("mutate");
    }),
    { numRuns: 1000 },
  );
});

const type = fc.constantFrom<JsonValue>(...UI_EVENT_TYPES.filter((name) => name !== "custom"), {
  custom: "clipboard",
});
const payload = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
  fc.constantFrom<JsonValue>(...NOMINAL.map(([, one]) => one), { fields: ["iban"] }),
  fc.tuple(name, verb).map(([key, word]) => ({ [key]: word })),
);

const STARTER = policyOf(
  "ag_ui: { allow_display_without_capability: true }\nag_ui_classify:\n  state:\n    - { match: /cart/**, classification: submit }\n",
);

function allows(envelope: JsonObject): boolean {
  return STARTER.evaluate({
    event: classifyEnvelope(envelope, "outbound", STARTER.refinements),
    transport: "sse",
    counters: NO_COUNTERS,
  }).allow;
}

test("no class that an agent claims allows what the policy blocks under another claim", () => {
  fc.assert(
    fc.property(type, payload, fc.boolean(), (event_type, content, hasTarget) => {
      const base: JsonObject = {
        event_type,
        payload: content,
        ...(hasTarget ? { target: { component_type: "form" } } : {}),
      };
      const facts = classifyEnvelope(base, "outbound");
      for (const classification of CLASSIFICATIONS) {
        const claimed = classifyEnvelope({ ...base, classification }, "outbound");
        expect(claimed.derived).toBe(facts.derived);
        expect(claimed.mismatch === undefined).toBe(
          isAtLeastAsStrict(classification, facts.derived),
        );
        // A claim may only restrict.
        expect(allows({ ...base, classification }) && !allows(base)).toBe(false);
      }
    }),
    { numRuns: 1000 },
  );
});

test("the payload of a form passes without a token under no type and no class", () => {
  for (const event_type of [...UI_EVENT_TYPES, { custom: "x" }]) {
    for (const classification of CLASSIFICATIONS) {
      const form = { fields: ["iban"], action: ["open"] };
      expect(allows({ event_type, classification, payload: form })).toBe(false);
    }
  }
});

test("a change of the state counts as one of every path that a rule names", () => {
  const refinements = compileRefinements({
    state: [{ match: "/cart/**", classification: "submit" }],
  });
  const envelope = { event_type: "state_update", classification: "mutate", payload: { a: 1 } };
  const facts = classifyEnvelope(envelope, "outbound", refinements);
  expect(facts).toMatchObject({ classification: "mutate", also: [{ classification: "submit" }] });
  expect(facts.mismatch).toBeUndefined();
});

test("a CUSTOM event that imitates an envelope is judged as both", () => {
  fc.assert(
    fc.property(type, payload, (event_type, content) => {
      const value = { event_type, payload: content };
      const imitation = classifyEvent({ type: "CUSTOM", name: "countersign.envelope", value });
      const all = [imitation, ...(imitation.also ?? [])].map(({ derived: one }) => one);
      expect(all).toContain("mutate");
      const own = classifyEnvelope(value, "outbound").derived;
      expect(all.some((one) => isAtLeastAsStrict(one, own))).toBe(true);
    }),
  );
});

test("docs/events/envelopes.md lists the members of every form", () => {
  const file = new URL("../../../../docs/events/envelopes.md", import.meta.url);
  const rows = readFileSync(file, "utf8").split("\n");
  for (const [type, form] of Object.entries(PAYLOAD_FORMS)) {
    const [, , classes, listed = "", otherwise] =
      rows.find((row) => row.startsWith(`| ${type} |`))?.split("|") ?? [];
    expect(classes?.trim()).toBe(form.classification);
    expect(otherwise?.trim()).toBe(form.otherwise);
    const names = [...listed.replaceAll(/\([^)]*\)/gu, "").matchAll(/`(\w+)`/gu)].map(
      ([, one]) => one,
    );
    expect(names.toSorted()).toEqual(
      Object.keys(form.members)
        .filter((one) => !/id$/iu.test(one))
        .toSorted(),
    );
  }
});
