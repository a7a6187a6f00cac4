import { ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { expect, test } from "vitest";
import { listMember } from "../oatf/json/values.js";
import {
  callOf,
  documentOf,
  FINISHED,
  HELLO,
  runScripted,
  silence,
  STARTED,
  streamOf,
} from "./testing/scripted.js";
import type { Scripted } from "./testing/scripted.js";

const events = ({ execution: done }: Scripted): string[] =>
  (done?.trace ?? []).map(
    ({ direction, event }) => `${direction === "request" ? ">" : "<"}${event}`,
  );
const contents = ({ execution: done }: Scripted, event: string): JsonValue[] =>
  (done?.trace ?? []).filter((entry) => entry.event === event).map(({ content }) => content);
/** The request, without the suffix that each execution adds to the document's ids. */
const bodies = ({ requests }: Scripted): JsonObject[] =>
  requests.map(
    ({ body }) => parseJson(body.replaceAll(/\b([a-z])-[\da-f]{8}"/g, '$1"')) as JsonObject,
  );
const notes = ({ execution: done }: Scripted): string[] =>
  (done?.notes ?? []).map(({ code }) => code).filter((code) => code !== "CS-011");
const PROOF = { type: "CUSTOM", name: "proof", value: 1 };
const input = (more = ""): string =>
  `{run_agent_input: {threadId: t, runId: r, messages: []${more}}}`;
const phases = (...list: string[]): string => `{mode: ag_ui_client, phases: [${list.join(", ")}]}`;

test("a trace has every message with direction and actor, and joins the text of a run at its end", async () => {
  const text = [
    { type: "TEXT_MESSAGE_START", messageId: "1", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "1", delta: "pro" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "1", delta: "of" },
    { type: "SOMETHING_NEW", x: 1 },
  ];
  const indicator =
    '{surface: _accumulated_response, target: "messages[*].content", pattern: {contains: proof}}';
  const ran = await runScripted(documentOf(HELLO, indicator), [streamOf(...text)]);
  expect(events(ran)).toEqual([
    ">run_agent_input",
    "<run_started",
    "<text_message_start",
    "<text_message_content",
    "<text_message_chunk",
    "<something_new",
    "<run_finished",
    "<_accumulated_response",
    "<_accumulated_message",
  ]);
  expect(ran.outcome).toBe("exploited");
  expect(new Set(ran.execution?.trace.map(({ actor }) => actor))).toEqual(new Set(["default"]));
  const strict = await runScripted(documentOf(HELLO, indicator), [streamOf(...text)], {
    strict: true,
  });
  expect(strict.outcome).toBe("error");
});

test("arguments and ends get the name of their call, interleaved and in chunks, and the raw event stays", async () => {
  const [a = {}, argsA = {}, endA = {}] = callOf("a", "alpha");
  const [b = {}, argsB = {}, endB = {}] = callOf("b", "beta");
  const chunk = { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "gamma", delta: "{" };
  const rest = { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: "}" };
  const unknown = { type: "TOOL_CALL_END", toolCallId: "z" };
  const stream = streamOf(a, b, argsA, argsB, endB, endA, chunk, rest, unknown);
  const ran = await runScripted(documentOf(HELLO), [stream, streamOf()]);
  const names = (event: string): unknown[] =>
    contents(ran, event).map((one) => ownMember(one, "toolCallName"));
  expect(names("tool_call_args")).toEqual(["alpha", "beta"]);
  expect(names("tool_call_end")).toEqual(["beta", "alpha", undefined]);
  expect(names("tool_call_chunk")).toEqual(["gamma", "gamma"]);
  const entry = ran.execution?.trace.find(({ event }) => event === "tool_call_args");
  expect(ownMember(entry?.raw, "toolCallName")).toBeUndefined();
});

test("tool calls are answered in a new run of the same thread: first match wins", async () => {
  const responses =
    "tool_responses: [{content: {content: rest}}, {when: {toolCallName: pay}, content: {content: paid, extra: 1}}]";
  const document = documentOf(
    `{mode: ag_ui_client, state: {run_agent_input: {threadId: t, runId: r, messages: []}, ${responses}}}`,
  );
  const ran = await runScripted(document, [
    streamOf(...callOf("1", "pay", '{"n":1}'), ...callOf("2", "look")),
    streamOf(PROOF),
  ]);
  const [first, second] = bodies(ran);
  expect(ran.outcome).toBe("exploited");
  expect([second?.["threadId"], second?.["runId"] === first?.["runId"]]).toEqual(["t", false]);
  const [assistant = null, paid = null, rest = null] = listMember(second, "messages");
  expect(ownMember(assistant, "toolCalls")).toEqual([
    { id: "1", type: "function", function: { name: "pay", arguments: '{"n":1}' } },
    { id: "2", type: "function", function: { name: "look", arguments: "{}" } },
  ]);
  expect(paid).toMatchObject({ role: "tool", toolCallId: "1", content: "paid", extra: 1 });
  expect(rest).toMatchObject({ role: "tool", toolCallId: "2", content: "rest" });
});

test("without tool_responses the answer is an empty success; without a match there is none", async () => {
  const plain = await runScripted(documentOf(HELLO), [streamOf(...callOf("1", "x")), streamOf()]);
  expect(contents(plain, "tool_call_result")).toMatchObject([{ toolCallId: "1", content: "" }]);
  const picky = documentOf(
    "{mode: ag_ui_client, state: {run_agent_input: {}, tool_responses: [{when: {toolCallName: y}, content: z}]}}",
  );
  const ran = await runScripted(picky, [streamOf(...callOf("1", "x"))]);
  expect([ran.requests.length, notes(ran).includes("CS-007")]).toEqual([1, true]);
});

test("calls that the agent answered, or that wait for a person, are left alone", async () => {
  const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "1", content: "own" };
  const interrupts = [{ id: "i", toolCallId: "2", reason: "approval" }];
  const finished = { ...FINISHED, outcome: { type: "interrupt", interrupts } };
  const stream = [STARTED, ...callOf("1", "x"), result, ...callOf("2", "y"), finished].map(
    sseFrame,
  );
  expect((await runScripted(documentOf(HELLO), [stream])).requests).toHaveLength(1);
});

test("an agent that calls tools for ever is answered a bounded number of times", async () => {
  const ran = await runScripted(documentOf(HELLO), [streamOf(...callOf("1", "x"))], {
    limits: { maxFollowUps: 3 },
  });
  expect(ran.requests).toHaveLength(4);
});

test("phases advance by event, match and count, and each state replaces the one before", async () => {
  const document = documentOf(
    phases(
      `{state: ${input(", state: {a: 1}")}, trigger: {event: custom, match: {name: tick}, count: 2}}`,
      `{state: ${input(", context: [b]")}}`,
    ),
  );
  const tick = { type: "CUSTOM", name: "tick", value: 0 };
  const ran = await runScripted(document, [streamOf(tick, PROOF, tick), streamOf()]);
  expect(bodies(ran)[1]).toEqual({ threadId: "t", runId: "r", messages: [], context: ["b"] });
  expect(ran.execution?.actors).toMatchObject([{ status: "completed", phases: { entered: 2 } }]);
});

test("a trigger that cannot fire any more ends the actor as stalled", async () => {
  const document = documentOf(phases(`{state: ${input()}, trigger: {event: raw}}`, "{}"));
  const ran = await runScripted(document, [streamOf()]);
  expect(ran.execution?.actors).toMatchObject([{ status: "stalled", phases: { entered: 1 } }]);
});

test("the request itself can be the trigger, and a phase without state goes on listening", async () => {
  const document = documentOf(
    phases(`{state: ${input()}, trigger: {event: run_agent_input}}`, "{name: watch}"),
  );
  const ran = await runScripted(document, [streamOf(PROOF)]);
  expect([ran.requests.length, ran.outcome]).toEqual([1, "exploited"]);
});

test("a timer fires on a silent stream", async () => {
  const document = documentOf(
    phases(
      `{state: ${input()}, trigger: {event: raw, after: 1s}}`,
      `{state: ${input(", state: 2")}}`,
    ),
  );
  const ran = await runScripted(document, [silence([sseFrame(STARTED)]), streamOf(PROOF)], {
    timeouts: { document: 1800 },
  });
  expect([ran.requests.length, ran.outcome]).toEqual([2, "exploited"]);
});

test("what an extractor finds fills templates of the same actor and, qualified, of another", async () => {
  const extractors = "[{name: code, source: response, type: json_path, selector: $.value}]";
  const one = `{name: one, mode: ag_ui_client, phases: [{state: ${input()}, extractors: ${extractors}, trigger: {event: run_finished}}, {state: ${input(', state: "{{code}}"')}}]}`;
  const two = `{name: two, mode: ag_ui_client, phases: [{state: ${input()}, trigger: {after: 1s}}, {state: ${input(', state: "{{one.code}} {{request.threadId}}"')}}]}`;
  const skipped = "{name: three, mode: mcp_server, phases: [{state: {}}]}";
  const document = documentOf(`{actors: [${one}, ${two}, ${skipped}]}`);
  const ran = await runScripted(document, [streamOf({ ...PROOF, value: "{{x}}-7" })]);
  const states = bodies(ran).flatMap((body) => ownMember(body, "state") ?? []);
  expect(states.toSorted()).toEqual(["{{x}}-7", "{{x}}-7 t"]);
  expect(ran.execution?.actors.map(({ status }) => status)).toEqual([
    "completed",
    "completed",
    "skipped",
  ]);
});

test("actions log and send; what has no way over a transport is skipped with a note", async () => {
  const actions =
    "[{log: {message: hello, level: warn}}, {send: {method: run_agent_input, params: {threadId: s, runId: q}}}, {send: {method: custom, params: {name: x}}}, {other_binding: 1}]";
  const document = documentOf(phases(`{state: ${input()}, on_enter: ${actions}}`));
  const ran = await runScripted(document, [streamOf(PROOF)]);
  expect(notes(ran)).toEqual(["log:warn", "CS-005", "CS-005"]);
  expect(
    bodies(ran)
      .map((body) => body["threadId"])
      .toSorted(),
  ).toEqual(["s", "t"]);
  expect(notes(await runScripted(documentOf(HELLO), [streamOf()]))).toEqual(["CS-002", "CS-002"]);
});

test("over a WebSocket answers are frames of the same socket, bare JSON or SSE text", async () => {
  const bare = [STARTED, ...callOf("1", "x"), FINISHED].map((event) => JSON.stringify(event));
  const ran = await runScripted(documentOf(HELLO), [bare, streamOf(PROOF)], {
    transport: "websocket",
  });
  expect([ran.outcome, ran.requests.map(({ method }) => method)]).toEqual([
    "exploited",
    ["WS", "WS"],
  ]);
});

test("a raw body goes out as it is written, twice the same key included, with headers of its own", async () => {
  const document = documentOf(
    phases(
      `{state: ${input()}, x-countersign-body: '{"a":1,"a":2}', x-countersign-headers: {origin: "http://o", bad: "a\\nb"}}`,
    ),
  );
  const [request] = (await runScripted(document, [streamOf()])).requests;
  expect(request?.body).toBe('{"a":1,"a":2}');
  expect([request?.headers["origin"], request?.headers["bad"]]).toEqual(["http://o", undefined]);
});

test("templates that expand without bound end the document, not the batch", async () => {
  const body = "{{request.state}}".repeat(30);
  const big = "x".repeat(200_000);
  const document = documentOf(
    phases(
      `{state: ${input(`, state: ${big}`)}, trigger: {event: run_finished}}`,
      `{state: ${input(`, state: "${body}"`)}}`,
    ),
  );
  const ran = await runScripted(document, [streamOf()]);
  expect([ran.outcome, ran.reason?.includes("ERR_OATF_LIMIT")]).toEqual(["error", true]);
});
