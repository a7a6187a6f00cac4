import * as fc from "fast-check";
import { expect, test } from "vitest";
import { classifyEvent } from "../classify/event.js";
import type { ComponentCase, SurfaceCase } from "../cases/surface-case.js";
import { surfaceOfCase, threadOfCase } from "../cases/surface-case.js";
import { classifyInput } from "../classify/input.js";
import { comparePolicies } from "../compare/compare-policies.js";
import type { Effect } from "../compare/effect.js";
import { compilePolicy } from "../compile/compile.js";
import type { CompiledPolicy } from "../compile/compile.js";
import { NO_COUNTERS } from "../compile/facts.js";
import type { AppsBlock, PolicyDocument, SurfacesBlock } from "../document/model.js";
import { addRequests, matchSurfaceRequest, readSurfaceRequests } from "./request.js";
import { compileSensitiveInputs } from "./sensitive-inputs.js";
import { allowsDomain, refuseUrl } from "./urls.js";
import { addSurface } from "./view.js";

const some = { requiredKeys: [] };
const action = fc.constantFrom("allow" as const, "block" as const);
const header = {
  enabled: fc.constantFrom(true, true, true, false),
  mode: fc.constantFrom("enforce" as const, "enforce" as const, "observe" as const),
};
const listOf = <Value>(...values: Value[]) => fc.uniqueArray(fc.constantFrom(...values));
const component = listOf("Text", "Button", "T*", "*", "Chart");
const fn = listOf("formatString", "plot", "p*", "*");
const host = listOf("a.example", "b.example", "*");
const schema = fc.constantFrom<
  SurfacesBlock["catalogues"] extends (infer One)[] | undefined
    ? NonNullable<One> extends { schemas?: infer Schemas }
      ? Schemas
      : never
    : never
>(
  { Text: { type: "object", required: ["text"] } },
  { Text: { type: "object", maxProperties: 1 } },
  {},
);
const catalogue = fc.record(
  {
    id: fc.constantFrom("one", "two", "unnamed"),
    components: component,
    functions: fn,
    schemas: schema,
  },
  { requiredKeys: ["id"] },
);
const surfaces: fc.Arbitrary<SurfacesBlock> = fc.record(
  {
    ...header,
    rendering_tools: listOf("card", "chart"),
    catalogues: fc.uniqueArray(catalogue, { maxLength: 3, selector: ({ id }) => id }),
    overrides: action,
    block_functions: fn,
    agent_calls: fn,
    agent_functions: fn,
    urls: fc.record(
      {
        schemes: listOf("https", "http", "mailto"),
        hosts: host,
        relative: action,
        unknown: action,
        max_length: fc.constantFrom(20, 2048),
      },
      some,
    ),
    inputs: fc.record({ sensitive: action, words: listOf("nickname", "zip") }, some),
    labels: fc.record({ contradiction: action }, some),
    send_data_model: action,
  },
  some,
);
const hash = fc.constantFrom("a".repeat(64), "b".repeat(64));
const apps: fc.Arbitrary<AppsBlock> = fc.record(
  {
    ...header,
    servers: listOf("one", "two"),
    resources: fc.array(
      fc.record(
        { uri: fc.constantFrom("ui://a/*", "ui://a/v", "*"), sha256: hash },
        { requiredKeys: ["uri"] },
      ),
      { maxLength: 2 },
    ),
    tools: fc.uniqueArray(
      fc.record(
        {
          name: fc.constantFrom("get", "pay"),
          visibility: fc.constantFrom(["app" as const], ["model" as const]),
          arguments: fc.constant({ type: "object", required: ["a"] }),
        },
        { requiredKeys: ["name"] },
      ),
      { selector: ({ name }) => name },
    ),
    methods: listOf("tools/call", "resources/read", "ping"),
    csp: fc.record({ connect: host, frame: host }, some),
    permissions: listOf("camera", "microphone"),
    sandboxed_html: action,
    html: fc.record({ max_bytes: fc.constantFrom(10, 1000), forms: action, scripts: action }, some),
  },
  some,
);
const blocks = fc.record({ ag_ui_surfaces: surfaces, ag_ui_apps: apps }, some);
const documentOf = (rules: Partial<PolicyDocument["rules"]>): PolicyDocument => ({
  hushspec: "0.1.0",
  rules: {
    ag_ui: { allow_display_without_capability: true, restricted_classifications: [] },
    ag_ui_request: { forwarded_props: { allow: ["*"] } },
    ...rules,
  },
});

const text = fc.constantFrom("View", "Pay now", "Your PIN", "Nickname", "zip");
const drawn: fc.Arbitrary<ComponentCase> = fc.record(
  {
    component: fc.constantFrom(
      "a2ui:Text",
      "a2ui:Button",
      "a2ui:Chart",
      "mcp-app:ui://a/v",
      "html-sandbox:s",
    ),
    id: fc.constantFrom("s/a", "s/b"),
    catalogue: fc.constantFrom("one", "two"),
    label: text,
    accessibility_label: text,
    action: fc.constantFrom("view", "pay"),
    properties: fc.constantFrom(
      {},
      { text: "x" },
      { text: "x", more: 1 },
      { ui: { permissions: { camera: {} } } },
    ),
    urls: listOf(
      "https://a.example/x",
      "http://b.example/",
      "/here",
      "mailto:a@b.example",
      "https://a.example/long/long",
      "javascript:x",
    ),
    unknown_urls: listOf("https://a.example/x"),
    csp: fc.constantFrom(
      { connectDomains: ["a.example"] },
      { frameDomains: ["b.example"] },
      { baseUriDomains: ["a.example"] },
    ),
    functions: listOf("formatString", "plot"),
    agent_functions: listOf("plot", "wipe"),
    inputs: fc.array(fc.record({ label: text, secret: fc.boolean() }, some), { maxLength: 1 }),
  },
  { requiredKeys: ["component", "id"] },
);
/** One or two features at a time: a component with everything is always blocked. */
const plain = fc
  .tuple(drawn, fc.uniqueArray(fc.nat(10), { maxLength: 2 }))
  .map(([{ component, id, ...rest }, kept]): ComponentCase => {
    const entries = Object.entries(rest).filter((_, at) => kept.includes(at));
    return { component, id, ...Object.fromEntries(entries) };
  });
const surface: fc.Arbitrary<SurfaceCase> = fc
  .record(
    {
      catalogue: fc.constantFrom("one", "two"),
      components: fc.array(plain, { minLength: 1, maxLength: 2 }),
      send_data_model: fc.constantFrom(false, false, true),
      agent_calls: listOf("plot"),
      server: fc.constantFrom("one", "two"),
      html: fc.record(
        { hash, bytes: fc.constantFrom(5, 500), forms: fc.nat(1), scripts: fc.nat(1) },
        some,
      ),
    },
    { requiredKeys: ["components"] },
  )
  .map(({ agent_calls = [], ...rest }) =>
    agent_calls.length === 0 ? rest : { ...rest, agent_calls },
  );
const props = fc.constantFrom(
  { a2uiAction: { callAgentFunction: { callFunction: { call: "plot" } } } },
  ...["get", "pay"].map((name) => ({
    __proxiedMCPRequest: { serverId: "one", method: "tools/call", params: { name, arguments: {} } },
  })),
  {
    __proxiedMCPRequest: { serverId: "one", method: "resources/read", params: { uri: "ui://a/v" } },
  },
);
const APP_ON_SCREEN: SurfaceCase = {
  server: "one",
  components: [{ component: "mcp-app:ui://a/v", id: "m" }],
};

function passes(policy: CompiledPolicy, one: SurfaceCase): boolean {
  const view = surfaceOfCase(one);
  const event = classifyEvent(
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "m",
      activityType: "a2ui-surface",
      content: {},
      replace: true,
    },
    { refinements: policy.refinements },
  );
  return policy.evaluate({
    event: addSurface(event, view.facts, policy.refinements),
    surface: view,
    transport: "sse",
    counters: NO_COUNTERS,
  }).allow;
}

function requestPasses(policy: CompiledPolicy, forwardedProps: object): boolean {
  const { refinements } = policy;
  const input = {
    threadId: "t",
    runId: "r",
    messages: [],
    tools: [],
    context: [],
    state: {},
    forwardedProps,
  };
  const thread = threadOfCase(APP_ON_SCREEN);
  const requests = readSurfaceRequests(input as never).map((one) =>
    matchSurfaceRequest(one, thread),
  );
  return policy.evaluate({
    event: addRequests(classifyInput(input as never, { refinements }), requests, refinements),
    requests,
    transport: "sse",
    counters: NO_COUNTERS,
  }).allow;
}

/** A policy, and the same with one or two keys of another. */
const pair = fc
  .tuple(blocks, blocks, fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 2 }))
  .map(([one, other, taken]): [PolicyDocument, PolicyDocument] => {
    const mixed = structuredClone(one) as Record<string, Record<string, unknown>>;
    const keys = Object.entries(other).flatMap(([block, value]) =>
      Object.entries(value as object).map(
        ([key, entry]) => [block, key, entry as unknown] as const,
      ),
    );
    for (const place of taken) {
      const [block, key, entry] = keys[place % Math.max(1, keys.length)] ?? [];
      if (block !== undefined && key !== undefined)
        mixed[block] = { ...mixed[block], [key]: entry };
    }
    return [documentOf(one), documentOf(mixed)];
  });

test("what is called stricter draws nothing new, what is called looser stops nothing, the same does neither", () => {
  const seen = new Map<Effect, number>();
  let drawn = 0;
  fc.assert(
    fc.property(
      pair,
      fc.array(surface, { minLength: 10, maxLength: 15 }),
      props,
      ([before, after], list, request) => {
        const { verdict } = comparePolicies(before, after);
        seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
        const [old, now] = [compilePolicy(before), compilePolicy(after)];
        const mayOpen = verdict === "looser" || verdict === "both";
        const mayClose = verdict === "stricter" || verdict === "both";
        const outcomes = [
          ...list.map((one) => [passes(old, one), passes(now, one)]),
          [requestPasses(old, request), requestPasses(now, request)],
        ];
        for (const [was, is] of outcomes) {
          if (is === true) drawn += 1;
          expect(mayOpen || is === false || was === true).toBe(true);
          expect(mayClose || was === false || is === true).toBe(true);
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(drawn).toBeGreaterThan(100);
  for (const verdict of ["looser", "stricter", "same"] as const) {
    expect(seen.get(verdict)).toBeGreaterThan(10);
  }
});

type Lists = Record<string, unknown>;

/** Takes one entry out of every list that allows, wherever it is. */
function shortened(value: unknown, at: number, key = ""): unknown {
  if (Array.isArray(value)) {
    const rest =
      key === "words" || key === "block_functions"
        ? value
        : value.filter((_, index) => index !== at % Math.max(1, value.length));
    return rest.map((one) => shortened(one, at));
  }
  if (value === null || typeof value !== "object") return value;
  const { schemas, arguments: _schema, ...lists } = value as Lists;
  const copy = Object.fromEntries(
    Object.entries(lists).map(([name, one]) => [name, shortened(one, at, name)]),
  );
  const { arguments: kept } = value as Lists;
  return {
    ...copy,
    ...(schemas === undefined ? {} : { schemas }),
    ...(kept === undefined ? {} : { arguments: kept }),
  };
}

test("a shorter list of components, functions, hosts, catalogues or servers lets nothing more through", () => {
  fc.assert(
    fc.property(
      blocks,
      fc.nat(3),
      fc.array(surface, { maxLength: 10 }),
      props,
      (rules, at, list, request) => {
        const [old, now] = [
          documentOf(rules),
          documentOf(shortened(rules, at) as typeof rules),
        ].map(compilePolicy);
        if (old === undefined || now === undefined) return;
        expect(list.filter((one) => passes(now, one) && !passes(old, one))).toEqual([]);
        expect(requestPasses(now, request) && !requestPasses(old, request)).toBe(false);
      },
    ),
    { numRuns: 100 },
  );
});

test("one more word for sensitive inputs lets nothing more through", () => {
  fc.assert(
    fc.property(
      blocks,
      fc.string({ minLength: 2 }),
      fc.array(surface, { maxLength: 10 }),
      (rules, word, list) => {
        const block = rules.ag_ui_surfaces ?? {};
        const words = [...(block.inputs?.words ?? []), word];
        const more = { ...rules, ag_ui_surfaces: { ...block, inputs: { ...block.inputs, words } } };
        const [old, now] = [compilePolicy(documentOf(rules)), compilePolicy(documentOf(more))];
        expect(list.filter((one) => passes(now, one) && !passes(old, one))).toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
});

test("what is not certain is never drawn where the block enforces", () => {
  fc.assert(
    fc.property(blocks, surface, (rules, one) => {
      const { mode } = rules.ag_ui_surfaces ?? {};
      const isDrawn = passes(compilePolicy(documentOf(rules)), { ...one, undecided: "a cycle" });
      expect(isDrawn).toBe(isDrawn && mode === "observe");
    }),
    { numRuns: 200 },
  );
});

const SPELLED = [
  "password",
  "Passwort",
  "mot de passe",
  "contraseña",
  "parola d'ordine",
  "palavra-passe",
  "CVV",
  "card number",
  "PIN",
  "SSN",
  "one-time code",
];
const LETTERS: Readonly<Record<string, readonly string[]>> = {
  a: ["á", "ａ", "а"],
  o: ["0", "о", "ö"],
  i: ["1", "í", "і"],
  e: ["é", "е"],
  s: ["ѕ"],
  p: ["р"],
  c: ["с"],
};
test("a secret is found however its name is spelled", () => {
  const find = compileSensitiveInputs([]);
  fc.assert(
    fc.property(fc.constantFrom(...SPELLED), fc.infiniteStream(fc.nat(8)), (word, choices) => {
      const spelled = Array.from(word, (letter) => {
        const choice = choices.next().value ?? 0;
        if (choice === 0) return letter.toUpperCase();
        if (choice === 1) return `${letter}\u200B`;
        const others = LETTERS[letter.toLowerCase()] ?? [];
        return others[choice - 2] ?? letter;
      }).join("");
      expect([
        spelled,
        find({
          label: `Your ${spelled}:`,
          id: "f",
          boundPath: undefined,
          type: "text",
          isSecret: false,
          hints: [],
        }),
      ]).not.toContain(undefined);
    }),
    { numRuns: 500 },
  );
});

test.each([
  "Shipping address",
  "Name on the parcel",
  "Ship to",
  "Opinion",
  "Passport country",
  "Company",
  "Search",
  "Business card design",
])("an ordinary input is not a secret: %s", (label) => {
  const find = compileSensitiveInputs([]);
  expect(
    find({
      label,
      id: "field_1",
      boundPath: "/order/details",
      type: "text",
      isSecret: false,
      hints: ["Optional"],
    }),
  ).toBeUndefined();
});

const piece = fc.constantFrom(
  "https:",
  "http:",
  "//",
  "/",
  "\\",
  "@",
  ":",
  "a.example",
  "evil.example",
  "?",
  "#",
  "%2e",
  " ",
  "\t",
  ".",
  ";",
  "javascript:",
  "data:image/png,",
  "x",
  "\u3002",
  "[::1]",
);
const URLS = {
  schemes: new Set(["https"]),
  hosts: new Set(["a.example"]),
  allowsRelative: true,
  allowsUnknown: false,
  maxLength: 2048,
};
test("a browser asks a listed host or the page's own for every URL that passes", () => {
  let passed = 0;
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const value = pieces.join("");
      if (refuseUrl(value, true, URLS) !== undefined) return;
      passed += 1;
      const { protocol, hostname } = new URL(value, "https://own.example/page");
      expect([protocol, ["a.example", "own.example"].includes(hostname)]).toEqual(["https:", true]);
    }),
    { numRuns: 20_000 },
  );
  expect(passed).toBeGreaterThan(500);
});

test("no domain of an app ends its directive or covers other hosts, whatever the list says", () => {
  const bad = fc.constantFrom(";", ",", "'", '"', "*", "%3B", " ", "\n", "\t", "\\");
  fc.assert(
    fc.property(fc.string(), bad, fc.string(), (before, mark, after) => {
      expect(allowsDomain(undefined, `${before}${mark}${after}`)).toBe(false);
    }),
  );
  expect(allowsDomain(new Set(["api.example.org"]), "https://API.example.org")).toBe(true);
  expect(allowsDomain(undefined, "wss://api.example.org:8443")).toBe(true);
});
