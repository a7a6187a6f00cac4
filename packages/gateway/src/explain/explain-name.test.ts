import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject } from "@countersign/core";
import {
  actsNamed,
  addLines,
  CLASSIFICATION_TABLE,
  CLASSIFICATIONS,
  compilePolicy,
  INPUT_TABLE,
  loadPolicy,
  NO_COUNTERS,
  openAct,
  POLICY_SCHEMA,
  REASON_CODES,
  REQUEST_CHECKS,
  STREAM_RULES,
  UI_EVENT_TYPES,
  writeLines,
} from "@countersign/policy";
import type { Act, DecisionFacts, Opening, PolicyDocument } from "@countersign/policy";
import { readSubject } from "@countersign/policy/cases";
import {
  DEFAULT_DOCUMENT_LIMITS,
  readYaml,
  schemaKeys,
  validateAgainstSchema,
} from "@countersign/policy/yaml";
import { sseFrame } from "@countersign/testkit";
import type { FakeAnswer } from "@countersign/testkit";
import { DEVIATIONS, EMITTER_PROFILES, NOTE_MESSAGES } from "@countersign/wire/dialects";
import { ORDER_RULES } from "@countersign/wire/order";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CONFIG_SCHEMA } from "../config/schema.js";
import { METRICS } from "../telemetry/catalogue.js";
import { sendTo } from "../testing/begun-thread.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { THREATS } from "../testing/threats.js";
import { explainCode } from "./explain-code.js";
import { explainName } from "./explain-name.js";
import { explainRequest } from "./explain-request.js";
import { allRules, orderRules } from "./explain-rule.js";

const root = new URL("../../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const ENFORCED = read("packages/policy/policies/starter.yaml").replace(
  "mode: observe",
  "mode: enforce",
);
const STARTER = loadPolicy(ENFORCED).document;

const yaml = (lines: string): JsonObject =>
  readYaml(lines, "lines.yaml", DEFAULT_DOCUMENT_LIMITS).value as JsonObject;

/** A policy with lines added, loaded again from its text as a file is. */
function opened(document: PolicyDocument, lines: string): PolicyDocument {
  return loadPolicy(writeLines(addLines(document, yaml(lines)) as unknown as JsonObject)).document;
}

const PLAIN = loadPolicy("ag_ui: {}\n").document;

/** The fault of an opening: its lines do not load, or it has no reason. */
function faultOf(opening: Opening): string | undefined {
  if ("policy" in opening) {
    try {
      compilePolicy(opened(PLAIN, opening.policy));
      return undefined;
    } catch (error) {
      return String(error);
    }
  }
  if ("config" in opening) {
    const result = readYaml(opening.config, "c.yaml", DEFAULT_DOCUMENT_LIMITS);
    if (result.value === undefined) return "no YAML";
    const { value, positions } = result;
    const config = { agents: { NAME: { url: "http://a/" } }, ...(value as JsonObject) };
    return validateAgainstSchema(CONFIG_SCHEMA, config, positions, 10)[0]?.message;
  }
  const words = "closed" in opening ? opening.closed : opening.passes;
  return /^.{20,}$/su.test(words) ? undefined : "no reason";
}

function faults(names: Iterable<string>): string[] {
  return [...new Set(names)].flatMap((name) => {
    const meaning = explainName(name, STARTER);
    if (meaning === undefined) return [`${name}: not explained`];
    if (meaning.means.length < 10) return [`${name}: no meaning`];
    if (meaning.openings.length === 0) return [`${name}: nothing about opening it`];
    return meaning.openings.flatMap(({ opening }) => {
      const fault = faultOf(opening);
      return fault === undefined ? [] : [`${name}: ${fault}`];
    });
  });
}

const namedInSources = (folders: RegExp, pattern: RegExp): string[] =>
  readdirSync(new URL("packages/gateway/src/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/u.test(file) && folders.test(file))
    .flatMap((file) => read(`packages/gateway/src/${file}`).match(pattern) ?? []);

test("every name in the tables of the product is explained, with lines that load or a reason", () => {
  const inbound = [...read("docs/errors/gateway-inbound.md").matchAll(/^## (ERR_\w+)/gmu)];
  const codes = [
    ...inbound.map(([, code]) => code as string),
    ...namedInSources(/^(?:http|outbound)\//u, /(?<=\bcode: ")[A-Z_]+(?=")/gu),
  ];
  const names = [
    ...allRules().keys(),
    ...Object.keys(ORDER_RULES),
    ...Object.keys(STREAM_RULES),
    ...codes,
    ...codes.map((code) => `urn:countersign:problem:${code}`),
    ...Object.keys(REASON_CODES),
    ...Object.keys(NOTE_MESSAGES),
    ...Object.keys(DEVIATIONS),
    ...EMITTER_PROFILES,
    ...Object.keys(METRICS),
    ...CLASSIFICATIONS,
    ...UI_EVENT_TYPES,
    ...Object.keys(CLASSIFICATION_TABLE),
    ...Object.keys(INPUT_TABLE).map((part) => `input:${part}`),
    ...REQUEST_CHECKS.map((check) => `ag_ui_request.${check}`),
    ...schemaKeys(POLICY_SCHEMA).filter((key) => /^(?:ag_ui|velocity)/u.test(key)),
    "mode",
    "on_block",
    "extends",
    ...schemaKeys(CONFIG_SCHEMA),
    "agents.main.profile",
    "agents.<name>.headers",
    "velocity.notifications",
    "ag_ui_conditions.late",
    "custom:unknown tool call",
    "custom:invalid event",
    "custom:run limit",
    "custom:countersign.blocked",
    "countersign.blocked",
    "countersign.ui_render_hint",
    "tool:büro_öffnen",
    "tool:予約 する",
    "custom:予約",
    "Übersicht",
    "カード:要約",
  ];
  expect(new Set(names).size).toBeGreaterThan(450);
  expect(faults(names)).toEqual([]);
});

test("a name that the product does not have is not explained", () => {
  for (const name of ["", "gateway/nothing", "ERR_NOBODY_KNOWS", "x y", "ag_ui_contnet", "a/b"]) {
    expect([name, explainName(name, STARTER)]).toEqual([name, undefined]);
  }
});

let answer: (body: string) => FakeAnswer;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture(({ body }) => answer(body), { policy: ENFORCED });
});
afterAll(() => fixture.stop());

/** Names in a notice or an error that a client gets. */
function namesSent(body: string): string[] {
  return body.split("\n").flatMap((line) => {
    if (!line.startsWith("data: {")) return [];
    const event = JSON.parse(line.slice(6)) as Record<string, unknown>;
    if (event["type"] === "RUN_ERROR") return [String(event["code"])];
    if (event["name"] !== "countersign.blocked") return [];
    const { rule, reason, component, tool, path, type, classification } = event["value"] as Record<
      string,
      string
    >;
    const state = path === undefined ? undefined : `state:${path}`;
    const call = tool === undefined ? undefined : `tool:${tool}`;
    return [rule, reason, component, call, state, type, classification].filter(
      (one): one is string => one !== undefined && one !== "",
    );
  });
}

test("every name that the attacks of the threat model leave on receipts, in notices and in errors is explained", async () => {
  const names: string[] = [];
  let threads = 0;
  for (const attack of THREATS.flatMap(({ attacks }) => attacks)) {
    if ("request" in attack) continue;
    const threadId = `t${++threads}`;
    const first = { protocolVersion: "1.0", messages: [{ id: "u1", role: "user", content: "hi" }] };
    const send = async (fields: object): Promise<void> => {
      const sent = await sendTo(fixture, JSON.stringify({ ...first, threadId, ...fields }));
      names.push(...namesSent(sent.text), ...(sent.code === undefined ? [] : [sent.code]));
    };
    if ("bytes" in attack) {
      const { headers, bytes } = attack;
      const pieces = [typeof bytes === "string" ? bytes : Buffer.from(bytes)];
      answer = () => ({ ...(headers === undefined ? {} : { headers }), pieces });
      await send({ runId: "r1" });
      continue;
    }
    const events = "agent" in attack ? attack.agent : text("a1", "I refuse");
    answer = (body) => ({ pieces: inRun(idsOf(body), events).map(sseFrame) });
    await send({ runId: "r1" });
    if ("browser" in attack) await send({ runId: "r2", ...attack.browser });
  }
  for (const { receipt, rule, further_rules: further = [] } of fixture.recorder.drafts) {
    const { event_type: type, target, denial_reason: reason, classification } = receipt;
    names.push(typeof type === "string" ? type : `custom:${type.custom}`, classification);
    if (target !== undefined) {
      names.push([target.component_type, target.component_id].filter(Boolean).join(":"));
    }
    names.push(...[rule, reason, ...further].filter((one) => one !== undefined));
  }
  // A condition's reason is written in the policy; its rule is on the same receipt.
  const own = new Set(STARTER.rules.ag_ui_conditions?.rules?.map(({ reason }) => reason));
  const seen = new Set(names.filter((name) => !own.has(name)));
  expect(seen.size).toBeGreaterThan(60);
  expect(faults(seen)).toEqual([]);
});

type Sample = { readonly act?: string; readonly value?: JsonObject } & Partial<DecisionFacts>;
const said = (delta: string): Sample => ({
  value: { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta },
});
const HOSTILE = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, transport: websocket, max_events_per_second: 1 }
  ag_ui_components: { allow_components: [chat-window] }
  ag_ui_inbound: { default: block, allow_classifications: [display] }
  ag_ui_tools:
    call: { default: block }
    declare: { default: block }
    quarantine: { denials: 1, window_seconds: 1 }
  ag_ui_content:
    { max_characters: 100, max_event_characters: 1000, links_in_errors: block, read: [text, results] }
`;

/** One example that each rule blocks; names in capitals are those of the printed lines. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "ag_ui.transport": said("hello"),
  ag_ui_order: { ...said("x"), violations: [{ rule: "run/finish-ids", severity: "error" }] },
  "ag_ui.max_events_per_second": { ...said("x"), counters: { ...NO_COUNTERS, eventsInSecond: 9 } },
  ag_ui_components: { act: "activity:COMPONENT" },
  "ag_ui.capability": { act: "custom:NAME" },
  ag_ui_inbound: { act: "state:/PATH" },
  "ag_ui_tools.call": {
    value: { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "TOOL" },
  },
  "ag_ui_tools.quarantine": {
    value: { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "TOOL" },
    deniedCalls: 2,
  },
  "ag_ui_tools.declare": {
    value: {
      threadId: "t",
      runId: "r",
      messages: [],
      tools: [{ name: "TOOL", description: "", parameters: {} }],
    },
  },
  "ag_ui_content.images": said("![](https://images.example.org/a.png)"),
  "ag_ui_content.links": said("[x](javascript:alert(1))"),
  "ag_ui_content.links_in_errors": {
    value: { type: "RUN_ERROR", message: "see https://evil.example" },
  },
  "ag_ui_content.markup": said("<script>alert(1)</script>"),
  "ag_ui_content.hidden": said("pay \u202Eeno\u202C"),
  "ag_ui_content.max_characters": said("a".repeat(101)),
  "ag_ui_content.max_event_characters": {
    value: {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      result: Array(20).fill("a".repeat(90)),
    },
  },
  "ag_ui_content.sources": {
    value: {
      threadId: "t",
      runId: "r",
      messages: [
        {
          id: "m",
          role: "user",
          content: [{ type: "image", source: { type: "url", value: "http://10.0.0.7/" } }],
        },
      ],
    },
  },
};

/** The rules that block a sample under a policy. */
function blocking(document: PolicyDocument, sample: Sample): string[] {
  const policy = compilePolicy(document);
  const { act, value, ...rest } = sample;
  const acts: readonly Act[] =
    act === undefined ? [{ about: "", value: value as JsonObject }] : actsNamed(act);
  return acts.flatMap((one) => {
    const { subject } = readSubject(one.value, {
      refinements: policy.refinements,
      clientTools: one.clientTools ?? new Set<string>(),
    });
    if (subject === undefined) throw new TypeError("not an event");
    const { steps } = policy.explain({
      transport: "sse",
      counters: NO_COUNTERS,
      event: subject.facts,
      capability: undefined,
      variables: { event: subject.value },
      ...rest,
    });
    return steps.flatMap(({ rule, outcome, reason }) => {
      if (outcome === "passed") return [];
      const found = rule === "ag_ui_content" ? explainName(reason ?? "", document)?.kind : rule;
      return [found?.replace("reason of rule ", "") ?? ""];
    });
  });
}

test("the lines of each rule really allow what the rule blocks", () => {
  const document = loadPolicy(HOSTILE).document;
  const untested: string[] = [];
  for (const [rule, { opening }] of allRules()) {
    if (!("policy" in opening) || rule.startsWith("ag_ui_request.")) continue;
    const sample = SAMPLES[rule];
    if (sample === undefined) {
      untested.push(rule);
      continue;
    }
    expect(blocking(document, sample)).toContain(rule);
    const after = blocking(opened(document, opening.policy), sample);
    // A request to change the state is judged in both directions, and lines for one direction do
    // not open the other.
    expect([rule, after.filter((one) => one === rule).length]).toEqual([
      rule,
      rule === "ag_ui.capability" ? 2 : 0,
    ]);
  }
  // The denial of everything, the content of lists, and the gateway's own four rules, which are
  // tested below.
  // Rules about generative UI need a surface, which no sample has.
  const isAboutSurfaces = (rule: string): boolean => /^ag_ui_(?:surfaces|apps)\./u.test(rule);
  expect(untested.filter((rule) => !isAboutSurfaces(rule))).toEqual([
    "gateway/unanswered",
    "gateway/result",
    "gateway/approval",
    "gateway/withheld",
    "policy",
    "ag_ui_messages.unknown_user",
    "ag_ui_messages.unknown_system",
  ]);
});

test("the lines of a rule about the order open it, where the official client does not throw", () => {
  for (const [rule, { opening }] of orderRules()) {
    if (!("policy" in opening)) continue;
    const sample: Sample = { ...said("x"), violations: [{ rule, severity: "error" }] };
    const document = loadPolicy('hushspec: "0.1.0"\nrules: { ag_ui: {} }\n').document;
    expect(blocking(document, sample)).toContain("ag_ui_order");
    expect(blocking(opened(document, opening.policy), sample)).not.toContain("ag_ui_order");
  }
});

test("the lines of the gateway's own rules and of the checks of a request change what they name", () => {
  const linesOf = (rule: string): string => {
    const opening = allRules().get(rule)?.opening as { policy: string };
    return opening.policy;
  };
  const policy = (rule: string) => compilePolicy(opened(STARTER, linesOf(rule)));
  expect(policy("gateway/result").document.rules.ag_ui_tools?.allow_agent_results).toBe(true);
  expect(policy("gateway/unanswered").request.mode("approval")).toBe("observe");
  expect(policy("gateway/approval").request.mode("approval")).toBe("observe");
  const [question] = actsNamed("interrupt:REASON") as [Act];
  expect(openAct(opened(STARTER, linesOf("gateway/withheld")), question).denial).toBeUndefined();
  expect(policy("ag_ui_messages.unknown_user").messages).not.toEqual(
    compilePolicy(STARTER).messages,
  );
  for (const check of REQUEST_CHECKS) {
    if (["approval", "state", "context", "forwarded_props", "unknown_keys"].includes(check))
      continue;
    expect(policy(`ag_ui_request.${check}`).request.mode(check)).toBe("observe");
  }
  const request = { threadId: "t", runId: "r", messages: [] };
  const carried: Record<string, [before: string, request: JsonObject]> = {
    unknown_keys: ["unknown_keys: { action: refuse }", { ...request, extra: 1 }],
    state: ["state: { keys: [other], max_bytes: 10 }", { ...request, state: { KEY: "x" } }],
    context: [
      "context: { descriptions: [other], max_bytes: 1 }",
      { ...request, context: [{ description: "DESCRIPTION", value: "v" }] },
    ],
    forwarded_props: ["forwarded_props: {}", { ...request, forwardedProps: { KEY: 1 } }],
  };
  for (const [check, [before, value]] of Object.entries(carried)) {
    const { document } = loadPolicy(`ag_ui: {}\nag_ui_request: { ${before} }\n`);
    const outcome = (of: PolicyDocument) =>
      explainRequest(value, compilePolicy(of)).find(({ rule }) => rule.endsWith(check))?.outcome;
    expect([check, outcome(document)]).toEqual([check, "blocked"]);
    const after = outcome(opened(document, linesOf(`ag_ui_request.${check}`)));
    expect([check, after]).toEqual([check, "passed"]);
  }
});

test("a code that ends a stream has no HTTP status; the code of a refusal has one", () => {
  for (const end of ["TIME", "SILENCE", "EVENTS", "BYTES"]) {
    expect(explainCode(`ERR_RUN_${end}`)).not.toHaveProperty("status");
  }
  expect(explainCode("ERR_ENVELOPE_NOT_CONFIGURED")).not.toHaveProperty("status");
  expect(explainCode("ERR_RUN_ACTIVE")).toHaveProperty("status", 409);
});
