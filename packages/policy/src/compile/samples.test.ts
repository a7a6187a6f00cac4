import { expect, test } from "vitest";
import { createCounterBook } from "../counters/book.js";
import { classifyEvent } from "../classify/event.js";
import { classifyInput } from "../classify/input.js";
import { sampleText } from "../testing/sample-text.js";
import { eventOf, factsOf, policyOf, token, verdict } from "../testing/judge.js";
import type { CapabilityStatus } from "@countersign/core";

const sse = policyOf(sampleText("ag-ui-sse-policy.yaml"));
const websocket = policyOf(sampleText("ag-ui-ws-policy.yaml"));

const TEXT = "text_stream display chat-window:main";
const FORM = "lifecycle create form:refund-request";
const ASK = "form_action submit modal:confirm-refund";

test.each([
  [TEXT, undefined, "allow"],
  ["text_stream display modal", undefined, "unknown component type"],
  ["notification alert toast:default", undefined, "capability required for Alert events"],
  ["notification alert toast:default", token("ui:alert:toast"), "allow"],
  [
    "notification alert toast:default",
    token("ui:alert:toast:other"),
    "capability scope does not authorize this AG-UI event",
  ],
  ["navigation navigate", undefined, "capability required for Navigate events"],
  ["navigation navigate", token("ui:navigate:*"), "allow"],
  [FORM, token("ui:create:form"), "unknown component type"],
  ["state_update mutate sidebar", token("ui:*:sidebar"), "allow"],
])("sse sample: %s with %j is %s", (event, capability, expected) => {
  expect(verdict(sse, event, { capability })).toBe(expected);
});

test("sse sample: native text flows, native state needs a capability", () => {
  const text = classifyEvent({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" });
  expect(verdict(sse, text)).toBe("allow");
  expect(verdict(sse, classifyEvent({ type: "RUN_STARTED", threadId: "t", runId: "r" }))).toBe(
    "allow",
  );
  const state = classifyEvent({ type: "STATE_SNAPSHOT", snapshot: { a: 1 } });
  expect(verdict(sse, state)).toBe("capability required for Mutate events");
  expect(verdict(sse, state, { capability: token("ui:mutate:*") })).toBe("allow");
});

test("sse sample: the other transport and the 201st event of a second are refused", () => {
  expect(verdict(sse, TEXT, { transport: "websocket" })).toBe("this policy is for sse only");
  const at = (eventsInSecond: number) =>
    verdict(sse, TEXT, { counters: { eventsInSecond, velocity: [] } });
  expect(at(200)).toBe("allow");
  expect(at(201)).toBe("more than 200 events in one second");
  expect(at(Number.NaN)).toBe("more than 200 events in one second");
});

test.each([
  [TEXT, undefined, "no capability token provided"],
  [TEXT, token("ui:submit:modal"), "allow"],
  [FORM, token("ui:create:form:refund-request"), "allow"],
  [FORM, undefined, "capability required for Create events"],
  [ASK, token("ui:submit:modal"), "unknown component type"],
])("websocket sample: %s with %j is %s", (event, capability, expected) => {
  expect(verdict(websocket, event, { capability, transport: "websocket" })).toBe(expected);
});

test.each([
  [TEXT, undefined, "allow"],
  ["state_update mutate form:a", undefined, "allow"],
  ["form_action submit form:a", undefined, "capability required for Submit events"],
  ["form_action submit form:a", token("ui:submit:form:a"), "allow"],
  ["navigation navigate", undefined, "capability required for Navigate events"],
  ["state_update submit form:a", undefined, "capability required for Submit events"],
])("websocket sample, from the browser: %s with %j is %s", (event, capability, expected) => {
  const facts = eventOf(event, "inbound");
  expect(verdict(websocket, facts, { capability, transport: "websocket" })).toBe(expected);
});

test("websocket sample: a request that approves something needs the client's own capability", () => {
  const request = classifyInput({
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user", content: "ok" }],
    resume: [{ interruptId: "i", status: "resolved" }],
  });
  const rest = { transport: "websocket" as const };
  // `interrupt` is not among the sample's components, so even a token is not enough.
  expect(verdict(websocket, request, rest)).toBe("unknown component type");
});

test.each([
  ["text_stream display chat-window:main", "allow"],
  ["text_stream display chat-window:other", "unknown component id"],
  ["text_stream display chat-window", "unknown component id"],
  ["text_stream display modal:main", "unknown component id"],
  ["lifecycle display", "allow"],
  ["form_action submit", "target component required"],
])("allow-list of ids: %s is %s", (event, expected) => {
  const policy = policyOf(sampleText("policy-component-allowlist.yaml"));
  expect(verdict(policy, event, { capability: token("*") })).toBe(expected);
  expect(verdict(policy, TEXT)).toBe("no capability token provided");
});

const submit = policyOf(sampleText("policy-submit-scope.yaml"));

test.each([
  [undefined, "capability required for Submit events"],
  [token("ui:submit:modal:confirm-refund"), "allow"],
  [token("ui:submit:modal"), "capability with scope ui:submit:modal:confirm-refund required"],
  [token("*"), "capability with scope ui:submit:modal:confirm-refund required"],
  [token("ui:submit:modal:other"), "capability scope does not authorize this AG-UI event"],
])("submit scope sample: the refund dialog with %j is %s", (capability, expected) => {
  expect(verdict(submit, ASK, { capability })).toBe(expected);
});

test("submit scope sample: other dialogs follow the general rule", () => {
  const other = "form_action submit modal:other";
  expect(verdict(submit, other, { capability: token("ui:submit:modal") })).toBe("allow");
  expect(verdict(submit, "state_update mutate", { capability: token("x") })).toBe("allow");
});

test.each<[CapabilityStatus, string]>([
  ["expired", "capability time validation failed: expired"],
  ["not_yet_valid", "capability time validation failed: not yet valid"],
  ["revoked", "capability has been revoked"],
  ["untrusted_issuer", "capability verification failed: issuer is not trusted"],
  ["bad_signature", "capability verification failed: signature did not verify"],
  ["wrong_session", "capability verification failed: token is bound to another session"],
])("a token that is %s says so", (status, reason) => {
  const capability = { ...token("*"), status };
  expect(verdict(submit, ASK, { capability })).toBe(reason);
  expect(verdict(submit, "state_update mutate", { capability })).toBe(reason);
});

test("notification sample: the 21st notification of a session in five minutes is refused", () => {
  const policy = policyOf(sampleText("policy-notification-rate.yaml"));
  const book = createCounterBook(policy.limits);
  const event = eventOf("notification alert toast:default");
  const capability = token("ui:alert:toast");
  const send = (session: string, now: number): string => {
    const keys = { session, connection: session };
    const counters = book.peek(event, keys, now);
    const answer = verdict(policy, event, { capability, counters });
    if (answer === "allow") book.commit(event, keys, now);
    return answer;
  };
  for (let index = 0; index < 20; index += 1) expect(send("a", index * 1000)).toBe("allow");
  expect(send("a", 20_000)).toBe("more than 20 events of this kind per session in 300 seconds");
  expect(send("b", 20_000)).toBe("allow");
  expect(send("a", 310_000)).toBe("allow");
});

test("the starter observes: everything passes and says what would have been", () => {
  const starter = policyOf(sampleText("starter.yaml"));
  expect(verdict(starter, TEXT)).toBe("allow");
  expect(verdict(starter, "navigation navigate")).toBe(
    "observed: capability required for Navigate events",
  );
  expect(starter.evaluate(factsOf("navigation navigate"))).toMatchObject({
    allow: true,
    observed: { onBlock: "notice", rule: "ag_ui.capability", reasonCode: "capability_required" },
  });
});
