import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { sendTo } from "../testing/begun-thread.js";
import type { Answer } from "../testing/begun-thread.js";
import { startFixture } from "../testing/fixture.js";
import {
  button,
  CATALOGUE,
  clickPolicy,
  clicks,
  drawing,
  openSurfaceThread,
  shows,
  showsApp,
} from "../testing/surface-thread.js";
import { call, idsOf, inRun } from "../testing/events.js";
import type { SurfaceThread } from "../testing/surface-thread.js";

let thread: SurfaceThread | undefined;
afterEach(async () => {
  await thread?.stop();
  thread = undefined;
});

const CARD = drawing("card", button("pay", "pay_invoice", ["id"]), button("no", "decline"));

/** Requests that the agent was sent. */
const asked = (): number =>
  (thread?.gateways ?? []).reduce((sum, one) => sum + one.agentRequests.length, 0);

test("a click on a shown button passes once, with its context unchanged", async () => {
  thread = await openSurfaceThread();
  await thread.draw([shows(CARD)]);
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  expect((await thread.send(click)).status).toBe(200);
  const body = thread.gateways[0]?.agentRequests.at(-1)?.body ?? "";
  expect((JSON.parse(body) as { forwardedProps: object }).forwardedProps).toEqual(click);
  const second = await thread.send(click);
  expect(second).toMatchObject({
    status: 403,
    code: "ERR_REQUEST_ACTION_USED",
    pointer: "/forwardedProps/a2uiAction/userAction",
  });
  expect(second.receipt).toMatch(/^agui-/u);
  expect(second.remedy).toContain("ag_ui_request.actions.repeat");
  expect((await thread.send(clicks("card", "no", "decline"))).status).toBe(200);
});

test.each<[string, object, string]>([
  ["another surface", clicks("other", "pay", "pay_invoice"), "ERR_REQUEST_ACTION_UNKNOWN"],
  ["another component", clicks("card", "pay-text", "pay_invoice"), "ERR_REQUEST_ACTION_UNKNOWN"],
  [
    "the action of its neighbour",
    clicks("card", "no", "pay_invoice"),
    "ERR_REQUEST_ACTION_UNKNOWN",
  ],
  ["another action", clicks("card", "pay", "delete_account"), "ERR_REQUEST_ACTION_UNKNOWN"],
  ["an item of no list", clicks("card", "pay:0", "pay_invoice"), "ERR_REQUEST_ACTION_UNKNOWN"],
  [
    "a context key of its own",
    clicks("card", "pay", "pay_invoice", { to: 1 }),
    "ERR_REQUEST_ACTION_CONTEXT",
  ],
  [
    "a context of another type than object",
    {
      a2uiAction: {
        userAction: {
          name: "pay_invoice",
          surfaceId: "card",
          sourceComponentId: "pay",
          context: "x",
        },
      },
    },
    "ERR_REQUEST_ACTION_UNREADABLE",
  ],
  [
    "no userAction",
    { a2uiAction: { name: "pay_invoice", surfaceId: "card" } },
    "ERR_REQUEST_ACTION_UNREADABLE",
  ],
  ["no object", { a2uiAction: "pay_invoice" }, "ERR_REQUEST_ACTION_UNREADABLE"],
  [
    "two clicks",
    {
      a2uiAction: {
        ...(clicks("card", "no", "decline") as { a2uiAction: object }).a2uiAction,
        action: { name: "pay_invoice", surfaceId: "card", sourceComponentId: "pay" },
      },
    },
    "ERR_REQUEST_ACTION_UNREADABLE",
  ],
  [
    "a function that no component calls",
    {
      a2uiAction: {
        version: "v1.0",
        callAgentFunction: {
          surfaceId: "card",
          functionCallId: "f",
          callFunction: { call: "wipe", args: {} },
        },
      },
    },
    "ERR_REQUEST_ACTION_UNKNOWN",
  ],
])("a click that names %s is refused before the agent reads it", async (_, props, code) => {
  thread = await openSurfaceThread();
  await thread.draw([shows(CARD)]);
  const before = asked();
  const answer = await thread.send(props);
  expect(answer).toMatchObject({ status: 403, code });
  expect(answer.remedy).not.toBe("");
  expect(asked()).toBe(before);
  const receipt = thread.gateways[0]?.recorder.drafts.at(-1);
  expect(receipt).toMatchObject({ rule: "ag_ui_request.actions", receipt: { allowed: false } });
  // Nothing was used up.
  expect((await thread.send(clicks("card", "pay", "pay_invoice", { id: 7 }))).status).toBe(200);
});

test.each<[string, object[]]>([
  [
    "a message list",
    [
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "a1",
            role: "activity",
            activityType: "a2ui-surface",
            content: { a2ui_operations: CARD },
          },
        ],
      },
    ],
  ],
  [
    "a patch",
    [
      shows([]),
      {
        type: "ACTIVITY_DELTA",
        messageId: "a1",
        activityType: "a2ui-surface",
        patch: [{ op: "replace", path: "/a2ui_operations", value: CARD }],
      },
    ],
  ],
  [
    "a tool result",
    [
      ...call("c1", "search", "{}"),
      {
        type: "TOOL_CALL_RESULT",
        messageId: "t1",
        toolCallId: "c1",
        content: JSON.stringify({ a2ui_operations: CARD }),
      },
    ],
  ],
])("a button that came by %s can be clicked", async (_, events) => {
  thread = await openSurfaceThread();
  await thread.draw(events);
  expect((await thread.send(clicks("card", "no", "decline"))).status).toBe(200);
});

test("a button that the policy withheld cannot be clicked", async () => {
  const rules = `  ag_ui_components: { allow_components: [chat-window, a2ui-surface, "a2ui:Text", "a2ui:Column"], default: block }\n`;
  thread = await openSurfaceThread({ policy: clickPolicy("", rules) });
  await thread.draw([shows(CARD)]);
  expect((await thread.send(clicks("card", "no", "decline"))).code).toBe(
    "ERR_REQUEST_ACTION_UNKNOWN",
  );
});

test("a click on another thread's button is refused", async () => {
  thread = await openSurfaceThread();
  expect(await thread.send(clicks("card", "pay", "pay_invoice"))).toMatchObject({
    code: "ERR_REQUEST_ACTION_UNKNOWN",
  });
});

test("a button that a tool of the policy draws can be clicked; one of another tool cannot", async () => {
  const { components, surfaceId } = (
    CARD[1] as { updateComponents: { surfaceId: string; components: object[] } }
  ).updateComponents;
  const text = JSON.stringify({ surfaceId, catalogId: CATALOGUE, components });
  const drawn = call("c1", "show_card", text);
  for (const [tools, code] of [
    ["show_card", undefined],
    ["show_other", "ERR_REQUEST_ACTION_UNKNOWN"],
  ] as const) {
    const policy = clickPolicy().replace(
      "ag_ui_surfaces: {",
      `ag_ui_surfaces: { rendering_tools: [${tools}],`,
    );
    thread = await openSurfaceThread({ policy });
    await thread.draw(drawn);
    expect((await thread.send(clicks("card", "no", "decline"))).code).toBe(code);
    expect((await thread.send(clicks("card", "no", "transfer"))).code).toBe(
      "ERR_REQUEST_ACTION_UNKNOWN",
    );
    await thread.stop();
  }
});

test.each(["drop", "end", "notice"])(
  "on_block %s: what was blocked cannot be clicked, what was shown before can",
  async (onBlock) => {
    const policy = clickPolicy().replace("rules:", `on_block: ${onBlock}\nrules:`);
    thread = await openSurfaceThread({ policy });
    const lying = drawing("bad", button("go", "pay", []), [
      { id: "x", component: "Image", url: "https://evil.example/x.png" },
    ]);
    const { text } = await thread.draw([
      shows(CARD),
      shows([...CARD, ...lying], "a2"),
      shows(drawing("late", button("go", "go_on")), "a3"),
    ]);
    expect(text).not.toContain("x.png");
    expect(text.includes("go_on")).toBe(onBlock !== "end");
    expect(text.includes("RUN_ERROR")).toBe(onBlock === "end");
    const codes = [];
    for (const click of [
      clicks("bad", "go", "pay"),
      clicks("late", "go", "go_on"),
      clicks("card", "no", "decline"),
    ]) {
      codes.push((await thread.send(click)).code);
    }
    const late = onBlock === "end" ? "ERR_REQUEST_ACTION_UNKNOWN" : undefined;
    expect(codes).toEqual(["ERR_REQUEST_ACTION_UNKNOWN", late, undefined]);
    // In another thread nothing was shown, and after a restart without its ledger neither.
    thread.begin();
    expect((await thread.send(clicks("card", "no", "decline"))).code).toBe(
      "ERR_REQUEST_ACTION_UNKNOWN",
    );
  },
);

test("a click in observe mode finds what was observed and delivered", async () => {
  const rules = `  ag_ui_components: { allow_components: [chat-window, a2ui-surface, "a2ui:Text", "a2ui:Column"], default: block, mode: observe }\n`;
  for (const all of ["enforce", "observe"]) {
    const policy = clickPolicy("mode: enforce", rules).replace("rules:", `mode: ${all}\nrules:`);
    thread = await openSurfaceThread({ policy });
    await thread.draw([
      shows(drawing("card")),
      shows(CARD),
      {
        type: "ACTIVITY_DELTA",
        messageId: "a1",
        activityType: "a2ui-surface",
        patch: [{ op: "add", path: "/note", value: 1 }],
      },
    ]);
    expect([all, (await thread.send(clicks("card", "no", "transfer"))).code]).toEqual([
      all,
      "ERR_REQUEST_ACTION_UNKNOWN",
    ]);
    expect([all, (await thread.send(clicks("card", "no", "decline"))).code]).toEqual([
      all,
      undefined,
    ]);
    await thread.stop();
  }
});

const REMOVALS: Record<string, object[]> = {
  "the surface is deleted": [
    shows([...CARD, { version: "v0.9", deleteSurface: { surfaceId: "card" } }]),
  ],
  "the activity is replaced by another surface": [shows(drawing("new", button("b", "go")))],
  "the activity becomes another type": [
    { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "note", content: {} },
  ],
  "the button is removed": [shows(drawing("card", button("no", "decline")))],
  "the button gets another action": [
    shows(drawing("card", button("pay", "decline", ["id"]), button("no", "decline"))),
  ],
  "a message list drops the activity": [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "n1", role: "activity", activityType: "note", content: {} }],
    },
  ],
  "a message list replaces the activity": [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "a1", role: "activity", activityType: "note", content: {} }],
    },
  ],
};

test.each(Object.keys(REMOVALS))(
  "after %s, in the same run or a later one, its click is refused",
  async (name) => {
    const events = REMOVALS[name] ?? [];
    for (const isLater of [false, true]) {
      thread = await openSurfaceThread();
      if (isLater) {
        await thread.draw([shows(CARD)]);
        await thread.draw(events);
      } else await thread.draw([shows(CARD), ...events]);
      const answer = await thread.send(clicks("card", "pay", "pay_invoice", { id: 7 }));
      expect([isLater, answer.code]).toEqual([isLater, "ERR_REQUEST_ACTION_UNKNOWN"]);
      if (!isLater) await thread?.stop();
    }
  },
);

test("a used action can be used again when the person sees another form of it", async () => {
  thread = await openSurfaceThread();
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  await thread.draw([shows(CARD)]);
  expect((await thread.send(click, [shows(CARD)])).status).toBe(200);
  expect((await thread.send(click)).code).toBe("ERR_REQUEST_ACTION_USED");
  const [pay, label] = button("pay", "pay_invoice", ["id"]);
  const renamed = drawing("card", [pay, { ...label, text: "Press pay_invoice again" }] as object[]);
  await thread.draw([shows(renamed)]);
  expect((await thread.send(click)).status).toBe(200);
  expect((await thread.send(click)).code).toBe("ERR_REQUEST_ACTION_USED");
  // The same button in a new message is another one.
  await thread.draw([shows(CARD, "a2")]);
  expect((await thread.send(click)).status).toBe(200);
  expect((await thread.send(click)).code).toBe("ERR_REQUEST_ACTION_USED");
});

test("a button that a list draws is used once for each item", async () => {
  const shown = await openSurfaceThread();
  thread = shown;
  const list = [
    {
      version: "v0.9",
      createSurface: {
        surfaceId: "list",
        catalogId: "https://a2ui.org/specification/v0_9/basic_catalog.json",
      },
    },
    {
      version: "v0.9",
      updateDataModel: { surfaceId: "list", path: "/", value: { items: [{ n: 1 }, { n: 2 }] } },
    },
    {
      version: "v0.9",
      updateComponents: {
        surfaceId: "list",
        components: [
          { id: "root", component: "List", children: { componentId: "buy", path: "/items" } },
          {
            id: "buy",
            component: "Button",
            child: "t",
            action: { event: { name: "buy", context: { n: { path: "n" } } } },
          },
          { id: "t", component: "Text", text: { path: "n" } },
        ],
      },
    },
  ];
  await shown.draw([shows(list)]);
  const buys = (id: string, n: number): Promise<Answer> =>
    shown.send(clicks("list", id, "buy", { n }));
  expect((await buys("buy", 1)).status).toBe(200);
  expect((await buys("buy", 1)).code).toBe("ERR_REQUEST_ACTION_USED");
  expect((await buys("buy:1", 2)).status).toBe(200);
  expect((await buys("buy", 3)).code).toBe("ERR_REQUEST_ACTION_USED");
});

test("a request that the agent does not get leaves the action unused", async () => {
  let isDown = false;
  const fixture = await startFixture(
    ({ body }) =>
      isDown
        ? { status: 503, pieces: [] }
        : { pieces: inRun(idsOf(body), body.includes("a2ui") ? [] : [shows(CARD)]).map(sseFrame) },
    { policy: clickPolicy() },
  );
  let run = 0;
  const send = (forwardedProps: object): Promise<Answer> => {
    const runId = `r${(run += 1)}`;
    const input = { threadId: "t", runId, protocolVersion: "1.0", messages: [], forwardedProps };
    return sendTo(fixture, JSON.stringify(input));
  };
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  try {
    await send({});
    expect((await send({ ...click, other: 1 })).code).toBe("ERR_FORWARDED_PROPS_REFUSED");
    isDown = true;
    expect((await send(click)).code).toBe("ERR_UPSTREAM_STATUS");
    isDown = false;
    expect((await send(click)).status).toBe(200);
    expect((await send(click)).code).toBe("ERR_REQUEST_ACTION_USED");
  } finally {
    await fixture.stop();
  }
});

test("a run that fails after the agent got the click has used the action", async () => {
  thread = await openSurfaceThread();
  await thread.draw([shows(CARD)]);
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  const failed = [
    { type: "RUN_STARTED", threadId: "THREAD", runId: "RUN_ID" },
    { type: "RUN_ERROR", message: "The model failed." },
  ];
  expect((await thread.send(click, failed)).text).toContain("RUN_ERROR");
  expect((await thread.send(click)).code).toBe("ERR_REQUEST_ACTION_USED");
});

test.each([
  ["lists the action", "actions: { repeat: [pay_*] }"],
  ["accepts any click", "actions: { accept: any }"],
  ["switches the check off", "enabled: false"],
])("a policy that %s allows the second click", async (_, request) => {
  thread = await openSurfaceThread({ policy: clickPolicy(request) });
  await thread.draw([shows(CARD)]);
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  expect((await thread.send(click)).status).toBe(200);
  expect((await thread.send(click)).status).toBe(200);
});

test("a class that does not submit allows the second click", async () => {
  const rules = `  ag_ui_classify: { components: [{ match: "a2ui:Button", classification: display }] }\n`;
  thread = await openSurfaceThread({ policy: clickPolicy("", rules) });
  await thread.draw([shows(CARD)]);
  const click = clicks("card", "pay", "pay_invoice", { id: 7 });
  expect((await thread.send(click)).status).toBe(200);
  expect((await thread.send(click)).status).toBe(200);
});

test("observe mode forwards the click and records what would be refused", async () => {
  thread = await openSurfaceThread({ policy: clickPolicy("actions: { mode: observe }") });
  expect((await thread.send(clicks("card", "pay", "pay_invoice"))).status).toBe(200);
  const inbound = thread.gateways[0]?.recorder.drafts.find((one) => one.direction === "inbound");
  expect(inbound).toMatchObject({ rule: "ag_ui_request.actions", receipt: { allowed: true } });
});

test("a click is an effect on its component: a policy can block it by its class", async () => {
  const policy = clickPolicy().replace(
    "{ default: allow }",
    "{ default: block, allow_classifications: [display] }",
  );
  thread = await openSurfaceThread({ policy });
  await thread.draw([shows(CARD)]);
  const answer = await thread.send(clicks("card", "pay", "pay_invoice", { id: 7 }));
  expect(answer).toMatchObject({
    code: "ERR_INBOUND_BLOCKED",
    pointer: "/forwardedProps/a2uiAction/userAction",
  });
});

const app = (fields: object): object => ({ __proxiedMCPRequest: fields });

test.each<[string, object, string | undefined]>([
  [
    "its resource",
    { serverId: "charts", method: "resources/read", params: { uri: "ui://charts/view" } },
    undefined,
  ],
  [
    "a tool of its server",
    { serverHash: "hash-charts", method: "tools/call", params: { name: "chart", arguments: {} } },
    undefined,
  ],
  ["a ping", { serverId: "charts", serverHash: "hash-charts", method: "ping" }, undefined],
  [
    "another server",
    { serverId: "crm", method: "tools/call", params: { name: "list_customers" } },
    "ERR_REQUEST_APP_UNKNOWN",
  ],
  [
    "another server by its hash",
    { serverId: "charts", serverHash: "hash-crm", method: "ping" },
    "ERR_REQUEST_APP_UNKNOWN",
  ],
  ["no server", { method: "tools/call", params: { name: "chart" } }, "ERR_REQUEST_APP_UNKNOWN"],
  [
    "another resource",
    { serverId: "charts", method: "resources/read", params: { uri: "ui://charts/admin" } },
    "ERR_REQUEST_APP_UNKNOWN",
  ],
  [
    "a file",
    { serverId: "charts", method: "resources/read", params: { uri: "file:///etc/passwd" } },
    "ERR_REQUEST_APP_UNKNOWN",
  ],
  [
    "another method",
    { serverId: "charts", method: "sampling/createMessage", params: {} },
    "ERR_REQUEST_APP_METHOD",
  ],
  [
    "a call without a tool",
    { serverId: "charts", method: "tools/call", params: {} },
    "ERR_REQUEST_APP_METHOD",
  ],
  ["a method that is no text", { serverId: "charts", method: 1 }, "ERR_REQUEST_ACTION_UNREADABLE"],
])("of the request of an app for %s the gateway says so", async (_, request, code) => {
  thread = await openSurfaceThread();
  await thread.draw([showsApp("charts", "ui://charts/view")]);
  const answer = await thread.send(app(request));
  expect(answer.code).toBe(code);
  expect(answer.status).toBe(code === undefined ? 200 : 403);
});

test.each<[string, object[]]>([
  [
    "became another activity",
    [{ type: "ACTIVITY_SNAPSHOT", messageId: "app-charts", activityType: "note", content: {} }],
  ],
  ["shows another server", [showsApp("maps", "ui://maps/view", "app-charts")]],
])("an app that %s cannot reach its server any more", async (_, events) => {
  for (const isLater of [false, true]) {
    const shown = await openSurfaceThread();
    thread = shown;
    const draws = [[showsApp("charts", "ui://charts/view")], events];
    if (isLater) for (const drawn of draws) await shown.draw(drawn);
    else await shown.draw(draws.flat());
    const answer = await shown.send(app({ serverId: "charts", method: "ping" }));
    expect([isLater, answer.code]).toEqual([isLater, "ERR_REQUEST_APP_UNKNOWN"]);
    if (!isLater) await shown.stop();
  }
});

const OWN_THREAD = [
  { type: "RUN_STARTED", threadId: "RUN_ID", runId: "RUN_ID" },
  { type: "RUN_FINISHED", threadId: "RUN_ID", runId: "RUN_ID", result: { ok: true } },
];

test("a run under its own id as thread is the answer to an app, and to nothing else", async () => {
  thread = await openSurfaceThread();
  await thread.draw([showsApp("charts", "ui://charts/view")]);
  const ping = app({ serverId: "charts", method: "ping" });
  const answered = await thread.send(ping, OWN_THREAD);
  expect(answered.text).toContain('"result":{"ok":true}');
  for (const answer of [
    await thread.send({}, OWN_THREAD),
    await thread.send(
      ping,
      JSON.parse(
        JSON.stringify(OWN_THREAD).replaceAll('"threadId":"RUN_ID"', '"threadId":"other"'),
      ) as object[],
    ),
  ]) {
    expect(answer.text).not.toContain('"result"');
  }
});

test("a request of an app leaves the questions of the agent open", async () => {
  thread = await openSurfaceThread();
  const ids = { threadId: "THREAD", runId: "RUN_ID" };
  const question = { id: "i1", reason: "confirm" };
  await thread.draw([
    { type: "RUN_STARTED", ...ids },
    showsApp("charts", "ui://charts/view"),
    { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [question] } },
  ]);
  const ping = app({ serverId: "charts", method: "ping" });
  expect((await thread.send(ping)).status).toBe(200);
  expect((await thread.send(ping)).status).toBe(200);
  const click = await thread.send(clicks("card", "pay", "pay_invoice"));
  expect(click.code).toBe("ERR_RESUME_INCOMPLETE");
});
