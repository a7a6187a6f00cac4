import * as fc from "fast-check";
import { expect, test } from "vitest";

type Decision = {
  direction: "outbound" | "inbound";
  type: string;
  event_type: string;
  classification: string;
  allowed: boolean;
  receipt_id: string;
  rule?: string | undefined;
  denial_reason?: string | undefined;
  target?: { component_type: string; component_id?: string } | undefined;
  act?:
    | {
        id: string;
        tool?: string | undefined;
        args?: string | undefined;
        text?: string | undefined;
        drawn?: fc.JsonValue | undefined;
        claim?: string | undefined;
      }
    | undefined;
};
type Group = { text: string; reason: string; count: number; reached: number; receipts: Decision[] };
type Acts = {
  groups(): Group[];
  decide(decision: Decision): void;
  arrive(side: "direct" | "guarded", event: object): void;
};

const load = (name: string): Promise<unknown> =>
  import(new URL(`../../assets/demo/${name}`, import.meta.url).href);
const { tellAct, tellReason } = (await load("sentences.js")) as {
  tellAct(decision: Decision): string;
  tellReason(decision: Decision): string;
};
const { createActs } = (await load("acts.js")) as { createActs(): Acts };

function decision(eventType: string, args: object, more: Partial<Decision> = {}): Decision {
  return {
    direction: "outbound",
    type: "TOOL_CALL_START",
    event_type: eventType,
    classification: "submit",
    allowed: false,
    receipt_id: "r",
    rule: "ag_ui.capability",
    denial_reason: "no",
    act: { id: "a", tool: "t", args: JSON.stringify(args) },
    ...more,
  };
}

test.each([
  ["form_action", { fields: ["Card number"] }, "a form asking for your card number"],
  [
    "form_action",
    { heading: "Hi", inputs: [{ label: "PIN" }, { name: "Date of birth" }, "Name"] },
    "a form asking for your PIN, date of birth and name",
  ],
  ["form_action", { title: "Your session expired" }, "a dialog: “Your session expired”"],
  ["form_action", {}, "the form “t”"],
  [
    "navigation",
    { url: "https://refunds.example.evil/claim" },
    "sending you to refunds.example.evil",
  ],
  [
    "navigation",
    { to: { href: "https://user@other.example:8443/?q" } },
    "sending you to other.example:8443",
  ],
  ["navigation", { href: "javascript:alert(1)" }, "sending you to a javascript: link"],
  ["navigation", { page: "next" }, "sending you to another page"],
  ["notification", { text: "90 % off!" }, "a pop-up: “90 % off!”"],
  ["notification", {}, "a pop-up"],
  ["state_update", {}, "changing the data of the page"],
  ["lifecycle", {}, "using the tool “t”"],
  ["confetti", {}, "using the tool “t”"],
])("%s with %j is told as: %s", (eventType, args, sentence) => {
  expect(tellAct(decision(eventType, args))).toBe(sentence);
});

test("an act without a tool is described by its rule, its class or its name", () => {
  const bare = { act: undefined };
  const image = { ...bare, rule: "ag_ui_content.images" };
  expect(tellAct(decision("text_stream", {}, image))).toBe("a picture from another site");
  const removal = { ...bare, classification: "destroy" };
  expect(tellAct(decision("confetti", {}, removal))).toBe("removing a part of the page");
  expect(tellAct(decision("confetti", {}, bare))).toBe("the event “confetti”");
});

test("the sentence for a message names its picture, its role or its change", () => {
  const told = (rule: string, act: object): string =>
    tellAct(decision("text_stream", {}, { rule, act: { id: "m", ...act } }));
  const picture = (url: string): string =>
    told("ag_ui_content.images", { text: `Look: ![x](${url})` });
  expect(picture("https://a.example/p.png")).toBe("a picture from a.example");
  expect(picture("https://a.example/p.png?who=1")).toBe("a tracking picture from a.example");
  const words = { text: "Hello", role: "system" };
  expect(told("gateway/role", words)).toBe("a fake shop message: “Hello”");
  const yours = { ...words, role: "user" };
  expect(told("ag_ui_messages.unknown_user", yours)).toBe(
    "a message that you never wrote: “Hello”",
  );
  expect(told("gateway/rewritten", yours)).toBe("changing your message to “Hello”");
});

test("the sentence for a payment has its amount and its payee if they are known", () => {
  const target = { component_type: "payment" };
  const paid = (args: object): string => tellAct(decision("form_action", args, { target }));
  expect(paid({ amount: "$5", payee: "Bob" })).toBe("paying $5 to Bob without asking you");
  expect(paid({})).toBe("paying without asking you");
});

test("the reason names the limit of a velocity rule, and an unknown rule keeps its own words", () => {
  const cap = "more than 3 events of this kind per session in 60 seconds";
  const velocity = decision("notification", {}, { rule: "velocity.rule-1", denial_reason: cap });
  expect(tellReason(velocity)).toBe("The shop allows 3 in 60 seconds.");
  const perAnswer = { ...velocity, denial_reason: cap.replace("session", "connection") };
  expect(tellReason(perAnswer)).toBe("The shop allows 3 per answer.");
  const unknown = decision("notification", {}, { rule: "new.rule", denial_reason: "because" });
  expect(tellReason(unknown)).toBe("Because.");
});

type Made = { label: string; name: string; context?: object };

/** A surface with these buttons; each has the id of its place. */
const drawnWith = (...buttons: Made[]): fc.JsonValue =>
  JSON.parse(
    JSON.stringify({
      a2ui_operations: [
        { createSurface: { surfaceId: "s" } },
        {
          updateComponents: {
            surfaceId: "s",
            components: buttons.flatMap(({ label, name, context }, at) => [
              {
                id: `b${at}`,
                component: "Button",
                child: `t${at}`,
                action: { event: { name, context } },
              },
              { id: `t${at}`, component: "Text", text: label },
            ]),
          },
        },
      ],
    }),
  ) as fc.JsonValue;

test.each([
  [
    { label: "View", name: "transfer_funds", context: { amount: "$5" } },
    "says “View” and transfers $5",
  ],
  [{ label: "Close", name: "deleteAccount" }, "says “Close” and deletes account"],
  [{ label: "Next", name: "step2" }, "says “Next” and does “step2”"],
])("a drawn button is told by its words and its action: %j", (made, told) => {
  const act = { id: "m", drawn: drawnWith(made) };
  expect(tellAct(decision("lifecycle", {}, { act }))).toBe(`a button that ${told}`);
});

test("of several drawn buttons the one is told that the reason names", () => {
  const drawn = drawnWith({ label: "Help", name: "help_me" }, { label: "View", name: "pay_bill" });
  const more = { act: { id: "m", drawn }, denial_reason: 'a2ui:Button "s/b1" says "view"' };
  expect(tellAct(decision("lifecycle", {}, more))).toBe("a button that says “View” and pays bill");
});

test("a drawing without a button is told as a card, and a claim as a click that the person did not make", () => {
  const told = (act: object): string =>
    tellAct(decision("lifecycle", {}, { act: { id: "m", ...act } }));
  expect(told({ drawn: {} })).toBe("a card");
  expect(told({ claim: "Pay $5" })).toBe("a click that you never made: “Pay $5”");
});

/** Drawings of an agent, broken in any place. */
const someDrawing: fc.Arbitrary<fc.JsonValue> = fc.oneof(
  fc.jsonValue(),
  fc
    .array(
      fc.record(
        {
          createSurface: fc.oneof(fc.jsonValue(), fc.constant({ surfaceId: "s" })),
          updateComponents: fc.oneof(
            fc.jsonValue(),
            fc.record({
              surfaceId: fc.constant("s"),
              components: fc.array(
                fc.oneof(
                  fc.jsonValue(),
                  fc.record({
                    id: fc.constant("b"),
                    component: fc.constant("Button"),
                    child: fc.jsonValue(),
                    action: fc.oneof(fc.jsonValue(), fc.record({ event: fc.jsonValue() })),
                  }),
                ),
              ),
            }),
          ),
        },
        { requiredKeys: [] },
      ),
    )
    .map((operations) => ({ a2ui_operations: operations }) as fc.JsonValue),
);

const someDecision: fc.Arbitrary<Decision> = fc.record({
  direction: fc.constant("outbound" as const),
  type: fc.constantFrom("TOOL_CALL_START", "CUSTOM"),
  event_type: fc.oneof(
    fc.constantFrom("form_action", "navigation", "notification", "text_stream", "state_update"),
    fc.string({ minLength: 1 }),
  ),
  classification: fc.constantFrom("display", "submit", "destroy"),
  allowed: fc.boolean(),
  receipt_id: fc.string({ minLength: 1, maxLength: 2 }),
  rule: fc.option(fc.constantFrom("velocity.a", "ag_ui_content.links", "other"), {
    nil: undefined,
  }),
  denial_reason: fc.option(fc.string(), { nil: undefined }),
  target: fc.option(fc.record({ component_type: fc.string(), component_id: fc.string() }), {
    nil: undefined,
  }),
  act: fc.option(
    fc.record({
      id: fc.constantFrom("a", "b", "c", "d"),
      tool: fc.option(fc.string({ unit: "binary" }), { nil: undefined }),
      args: fc.option(fc.oneof(fc.json(), fc.string({ unit: "binary" })), { nil: undefined }),
      drawn: fc.option(someDrawing, { nil: undefined }),
      claim: fc.option(fc.string({ unit: "binary" }), { nil: undefined }),
    }),
    { nil: undefined },
  ),
});

test("whatever an agent sends is told in one short line without characters that hide or turn text", () => {
  fc.assert(
    fc.property(someDecision, (made) => {
      for (const text of [tellAct(made), tellReason(made)]) {
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(text.length).toBeGreaterThan(0);
      }
    }),
  );
});

test("groups hold every stopped act once and every blocked receipt once", () => {
  fc.assert(
    fc.property(fc.array(someDecision, { maxLength: 12 }), (decisions) => {
      const acts = createActs();
      for (const made of decisions) acts.decide(made);
      const blocked = decisions.filter(({ allowed }) => !allowed);
      const ids = new Set(blocked.map(({ act, receipt_id: receipt }) => act?.id ?? receipt));
      const groups = acts.groups();
      expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(ids.size);
      const receipts = groups.flatMap((group) => group.receipts);
      expect(new Set(receipts)).toEqual(new Set(blocked));
      expect(receipts).toHaveLength(blocked.length);
      expect(groups.every(({ reached }) => reached === 0)).toBe(true);
    }),
  );
});

test("a message has reached a side with the text that was sent, not with a part or another text", () => {
  const acts = createActs();
  const text = "Hi ![](https://a.example/p)";
  const rule = "ag_ui_content.images";
  acts.decide(decision("text_stream", {}, { rule, act: { id: "m", text } }));
  const arrive = (delta: string): void =>
    acts.arrive("direct", { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
  arrive("Hi ");
  expect(acts.groups()[0]!.reached).toBe(0);
  arrive(text.slice(3));
  expect(acts.groups()[0]!.reached).toBe(1);
  const changed = { id: "q", text: "Pay Bob." };
  acts.decide(decision("text_stream", {}, { rule: "gateway/rewritten", act: changed }));
  for (const [content, reached] of [
    ["Pay me.", 0],
    ["Pay Bob.", 1],
  ] as const) {
    const messages = [{ id: "q", role: "user", content }];
    acts.arrive("direct", { type: "MESSAGES_SNAPSHOT", messages });
    expect(acts.groups()[1]!.reached).toBe(reached);
  }
});

test("acts alike are one sentence with their number, and the sentence says when some were allowed", () => {
  const acts = createActs();
  for (let count = 1; count <= 5; count += 1) {
    const act = { id: `n${count}`, tool: "notify", args: `{"text":"Offer ${count}"}` };
    acts.decide(decision("notification", {}, { act, allowed: count <= 2 }));
    acts.arrive("direct", { type: "TOOL_CALL_START", toolCallId: `n${count}` });
  }
  for (const id of ["x", "y"]) {
    const act = { id, tool: "navigate", args: '{"url":"https://evil.example/"}' };
    acts.decide(decision("navigation", {}, { act }));
  }
  expect(acts.groups().map(({ text, count, reached }) => ({ text, count, reached }))).toEqual([
    { text: "3 more pop-ups", count: 3, reached: 3 },
    { text: "sending you to evil.example, twice", count: 2, reached: 0 },
  ]);
});
