import { ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId } from "@countersign/wire/order";
import {
  ARGS,
  CALL,
  CALL_END,
  DELTA,
  FINISH,
  inRun,
  RUN,
  stream,
  SUBAGENT,
  SUBAGENT_END,
  TEXT,
  TEXT_END,
} from "./examples.js";
import type { Example, Rule } from "./rule.js";

type Page = { readonly why: string; readonly fix: string; readonly example: Example };

const REFUSED = "The 1.0 client ends the run with an error.";
const UNCHECKED = "The 1.0 client lets it pass, and the two sides disagree from here on.";
const SPAN = { type: "REASONING_START", messageId: "r1" };
const STEP = { type: "STEP_STARTED", stepName: "plan" };
const STEP_END = { type: "STEP_FINISHED", stepName: "plan" };
const CUSTOM = { type: "CUSTOM", name: "x/y", value: 1 };
const RESULT = { type: "TOOL_CALL_RESULT", messageId: "m9", toolCallId: "c1", content: "ok" };
const INTERRUPT = { id: "i1", reason: "confirmation" };

/** The reason, the fix and an example for each ordering rule. */
const PAGES: Readonly<Record<OrderRuleId, Page>> = {
  "run/after-error": {
    why: REFUSED,
    fix: "Stop sending after RUN_ERROR; start a new run if there is more.",
    example: stream(RUN, TEXT, TEXT_END, { type: "RUN_ERROR", message: "no" }, FINISH),
  },
  "run/after-finish": {
    why: REFUSED,
    fix: "Send everything before RUN_FINISHED.",
    example: stream(RUN, FINISH, CUSTOM),
  },
  "run/first-event": {
    why: REFUSED,
    fix: "Send RUN_STARTED first, before state or messages.",
    example: stream(CUSTOM, RUN, FINISH),
  },
  "run/nested-start": {
    why: REFUSED,
    fix: "Finish a run before the next one starts; use SUBAGENT events for delegation.",
    example: stream(RUN, { ...RUN, runId: "r2" }, { ...FINISH, runId: "r2" }),
  },
  "subagent/null-field": {
    why: REFUSED,
    fix: "Leave the field out.",
    example: inRun({ ...TEXT, subagentRunId: null }, TEXT_END),
  },
  "subagent/outcome": {
    why: REFUSED,
    fix: "Use success or suspended; send SUBAGENT_ERROR for a failure.",
    example: inRun(SUBAGENT, {
      ...SUBAGENT_END,
      outcome: { type: "suspended", interruptIds: [5] },
    }),
  },
  "text/already-open": {
    why: REFUSED,
    fix: "Start each message once; end it before it is started again.",
    example: inRun(TEXT, TEXT, TEXT_END),
  },
  "text/not-open": {
    why: REFUSED,
    fix: "Send TEXT_MESSAGE_START with the same messageId first, and do not mix chunks with explicit events.",
    example: inRun(DELTA),
  },
  "tool-call/already-open": {
    why: REFUSED,
    fix: "Start each call once; end it before it is started again.",
    example: inRun(CALL, CALL, CALL_END),
  },
  "tool-call/not-open": {
    why: REFUSED,
    fix: "Send TOOL_CALL_START with the same toolCallId first.",
    example: inRun(ARGS),
  },
  "tool-call/parent-owner": {
    why: REFUSED,
    fix: "Tag the call with the subagent that owns its message.",
    example: inRun(
      SUBAGENT,
      { ...TEXT, subagentRunId: "s1" },
      { ...TEXT_END, subagentRunId: "s1" },
      { ...CALL, parentMessageId: "m1", subagentRunId: "s2" },
      CALL_END,
      SUBAGENT_END,
    ),
  },
  "step/already-open": {
    why: REFUSED,
    fix: "Finish a step before it is started again.",
    example: inRun(STEP, STEP, STEP_END),
  },
  "step/not-open": {
    why: REFUSED,
    fix: "Start the step first, with the same name and owner.",
    example: inRun(STEP_END),
  },
  "reasoning/already-open": {
    why: REFUSED,
    fix: "End the span or message before it is started again.",
    example: inRun(SPAN, SPAN, { ...SPAN, type: "REASONING_END" }),
  },
  "reasoning/not-open": {
    why: REFUSED,
    fix: "Start the span or message first, with the same id.",
    example: inRun({ type: "REASONING_MESSAGE_CONTENT", messageId: "r1", delta: "hm" }),
  },
  "owner/mismatch": {
    why: REFUSED,
    fix: "Repeat the tag of the opener, or leave it out.",
    example: inRun(
      SUBAGENT,
      { ...TEXT, subagentRunId: "s1" },
      { ...DELTA, subagentRunId: "s2" },
      TEXT_END,
      SUBAGENT_END,
    ),
  },
  "subagent/required-field": {
    why: REFUSED,
    fix: "Send subagentRunId, and the name or message that the type needs.",
    example: inRun({ type: "SUBAGENT_STARTED", subagentRunId: "s1" }, SUBAGENT_END),
  },
  "subagent/already-active": {
    why: REFUSED,
    fix: "Mint a new subagentRunId for each invocation.",
    example: inRun(SUBAGENT, SUBAGENT, SUBAGENT_END),
  },
  "subagent/reused": {
    why: REFUSED,
    fix: "Mint a new subagentRunId for each invocation.",
    example: inRun(SUBAGENT, SUBAGENT_END, SUBAGENT, SUBAGENT_END),
  },
  "subagent/unknown-parent": {
    why: REFUSED,
    fix: "Announce the parent before its child.",
    example: inRun({ ...SUBAGENT, parentSubagentRunId: "s0" }, SUBAGENT_END),
  },
  "subagent/not-active": {
    why: REFUSED,
    fix: "Send SUBAGENT_STARTED first, and end it once.",
    example: inRun(SUBAGENT_END),
  },
  "run/open-at-finish": {
    why: REFUSED,
    fix: "End every message, call, step, reasoning and subagent before RUN_FINISHED; send RUN_ERROR when that is impossible.",
    example: inRun(TEXT, DELTA),
  },
  "event/unexpanded-chunk": {
    why: "The unit would open and close unseen.",
    fix: "Expand chunks before you judge the order.",
    example: { text: "a TEXT_MESSAGE_CHUNK given to the automaton itself" },
  },
  "run/finish-ids": {
    why: UNCHECKED,
    fix: "Repeat the runId and threadId of RUN_STARTED.",
    example: stream(RUN, { ...FINISH, runId: "other" }),
  },
  "run/thread-of-input": {
    why: UNCHECKED,
    fix: "Answer with the threadId of the input.",
    example: { text: 'input.threadId "t1", RUN_STARTED.threadId "t2"' },
  },
  "run/requested-run": {
    why: "The client asked for one run and got another.",
    fix: "Answer with the runId of the input.",
    example: { text: 'input.runId "r1", RUN_STARTED.runId "run_77"' },
  },
  "run/thread-change": {
    why: UNCHECKED,
    fix: "Keep one thread for each stream.",
    example: stream(
      RUN,
      FINISH,
      { type: "RUN_STARTED", threadId: "t2", runId: "r2" },
      { type: "RUN_FINISHED", threadId: "t2", runId: "r2" },
    ),
  },
  "run/id-reused": {
    why: UNCHECKED,
    fix: "Mint a new runId for each run.",
    example: stream(RUN, FINISH, RUN, FINISH),
  },
  "run/truncated": {
    why: "The official client takes it for a success: the user sees half an answer that looks whole.",
    fix: "Send RUN_FINISHED or RUN_ERROR in every case; catch exceptions of the agent and turn them into RUN_ERROR.",
    example: stream(RUN, TEXT, DELTA),
  },
  "interrupt/duplicate-id": {
    why: UNCHECKED,
    fix: "Mint a new id for each interrupt.",
    example: stream(RUN, {
      ...FINISH,
      outcome: { type: "interrupt", interrupts: [INTERRUPT, INTERRUPT] },
    }),
  },
  "tool-call/unknown-result": {
    why: UNCHECKED,
    fix: "Use the toolCallId of the call; send MESSAGES_SNAPSHOT when the call is from earlier.",
    example: inRun(RESULT),
  },
  "tool-call/renamed": {
    why: "The client keeps the old arguments under the new name: a harmless call turns into another one.",
    fix: "Mint a new toolCallId for another call.",
    example: inRun(CALL, CALL_END, { ...CALL, toolCallName: "delete" }, CALL_END),
  },
  "tool-call/reparented": {
    why: UNCHECKED,
    fix: "Keep the parentMessageId of the first start.",
    example: inRun(
      { ...CALL, parentMessageId: "m1" },
      CALL_END,
      { ...CALL, parentMessageId: "m2" },
      CALL_END,
    ),
  },
  "text/reopen-disagrees": {
    why: UNCHECKED,
    fix: "Keep role and name of the first start, or mint a new messageId.",
    example: inRun(TEXT, TEXT_END, { ...TEXT, name: "Ada" }, TEXT_END),
  },
  "tool-call/pending-list": {
    why: "The client waits for the wrong calls, or for none.",
    fix: "List exactly the calls that were started and not answered, in the order of their start; or leave the list out.",
    example: stream(RUN, CALL, CALL_END, {
      ...FINISH,
      outcome: { type: "success", pendingToolCallIds: ["c2"] },
    }),
  },
  "subagent/announced-late": {
    why: UNCHECKED,
    fix: "Send SUBAGENT_STARTED before the first event with its tag.",
    example: inRun(
      { ...TEXT, subagentRunId: "s1" },
      { ...TEXT_END, subagentRunId: "s1" },
      SUBAGENT,
      SUBAGENT_END,
    ),
  },
  "run/protocol-version": {
    why: "Clients treat it as a newer version and warn.",
    fix: "Send MAJOR.MINOR, for example 1.0.",
    example: stream({ ...RUN, protocolVersion: "v1" }, FINISH),
  },
};

/** Layer 3: the order of events, from the table that the automaton itself uses. */
export const SEQUENCE_RULES: Readonly<Record<OrderRuleId, Rule>> = Object.fromEntries(
  (Object.keys(ORDER_RULES) as OrderRuleId[]).map((id): [OrderRuleId, Rule] => {
    const { title, description, severity } = ORDER_RULES[id];
    return [id, { layer: 3, severity, title, what: description, ...PAGES[id] }];
  }),
) as Record<OrderRuleId, Rule>;
