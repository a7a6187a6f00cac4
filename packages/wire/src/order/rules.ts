/** How much a broken rule weighs: an error refuses the stream, a warning is a finding. */
export type Severity = "error" | "warning";

/** One rule about the order of events. */
export type OrderRule = {
  /**
   * The origin of the rule: V = the 1.0.0 client refuses it, E = required or sensible beyond it.
   */
  reference: string;
  severity: Severity;
  /** The severity under `strict`. */
  strict: Severity;
  title: string;
  description: string;
};

/**
 * Every ordering rule, by its stable id.
 *
 * An entry whose reference starts with V is exactly what `@ag-ui/client@1.0.0` refuses; the others
 * say what it lets pass. Pages of documentation are generated from this table.
 */
export const ORDER_RULES = {
  "run/after-error": {
    reference: "V1",
    severity: "error",
    strict: "error",
    title: "Nothing follows RUN_ERROR but a new run",
    description:
      "After RUN_ERROR the only legal event is RUN_STARTED; a second RUN_ERROR counts too.",
  },
  "run/after-finish": {
    reference: "V2",
    severity: "error",
    strict: "error",
    title: "Nothing follows RUN_FINISHED but a late error or a new run",
    description: "After RUN_FINISHED the only legal events are one RUN_ERROR and RUN_STARTED.",
  },
  "run/first-event": {
    reference: "V3",
    severity: "error",
    strict: "error",
    title: "A stream opens with RUN_STARTED or RUN_ERROR",
    description: "The first event of a stream is neither RUN_STARTED nor RUN_ERROR.",
  },
  "run/nested-start": {
    reference: "V4",
    severity: "error",
    strict: "error",
    title: "Runs on one stream do not overlap",
    description:
      "RUN_STARTED arrived while a run was active; a run ends before the next one starts.",
  },
  "subagent/null-field": {
    reference: "V5",
    severity: "error",
    strict: "error",
    title: "Subagent fields are absent, never null",
    description:
      "A subagentRunId (on an event, a message or an interrupt) or an optional field of a SUBAGENT event is null.",
  },
  "subagent/outcome": {
    reference: "V5",
    severity: "error",
    strict: "error",
    title: "A subagent ends in success or suspended",
    description:
      "The outcome of a SUBAGENT event has another type, or interruptIds that are not strings.",
  },
  "text/already-open": {
    reference: "V6",
    severity: "error",
    strict: "error",
    title: "A text message is started once until it ends",
    description:
      "TEXT_MESSAGE_START names a message that is open. Starting a closed one again is legal.",
  },
  "text/not-open": {
    reference: "V6",
    severity: "error",
    strict: "error",
    title: "Text continues only an open message",
    description: "TEXT_MESSAGE_CONTENT or _END names a message that is not open.",
  },
  "tool-call/already-open": {
    reference: "V7",
    severity: "error",
    strict: "error",
    title: "A tool call is started once until it ends",
    description: "TOOL_CALL_START names a call that is open.",
  },
  "tool-call/not-open": {
    reference: "V7",
    severity: "error",
    strict: "error",
    title: "Arguments continue only an open tool call",
    description: "TOOL_CALL_ARGS or _END names a call that is not open.",
  },
  "tool-call/parent-owner": {
    reference: "V7",
    severity: "error",
    strict: "error",
    title: "A tool call has the owner of its message",
    description:
      "TOOL_CALL_START is tagged with another subagent than its parent message, or moves an untagged call to a message of another owner.",
  },
  "step/already-open": {
    reference: "V8",
    severity: "error",
    strict: "error",
    title: "A step is started once until it ends",
    description: "STEP_STARTED names a step that the same owner has open.",
  },
  "step/not-open": {
    reference: "V8",
    severity: "error",
    strict: "error",
    title: "The owner that starts a step finishes it",
    description: "STEP_FINISHED names a step that this owner does not have open.",
  },
  "reasoning/already-open": {
    reference: "V9",
    severity: "error",
    strict: "error",
    title: "A reasoning span or message is started once until it ends",
    description:
      "REASONING_START or REASONING_MESSAGE_START names one of its own kind that is open.",
  },
  "reasoning/not-open": {
    reference: "V9",
    severity: "error",
    strict: "error",
    title: "Reasoning continues only what is open",
    description:
      "REASONING_MESSAGE_CONTENT, REASONING_MESSAGE_END or REASONING_END names nothing open of its kind.",
  },
  "owner/mismatch": {
    reference: "V10, V11",
    severity: "error",
    strict: "error",
    title: "A tag agrees with the opener's",
    description:
      "An event is tagged with another subagentRunId than the owner of the message, call, activity or reasoning it continues.",
  },
  "subagent/required-field": {
    reference: "V12",
    severity: "error",
    strict: "error",
    title: "A SUBAGENT event names its subagent",
    description:
      "A SUBAGENT event lacks its subagentRunId, SUBAGENT_STARTED its name or SUBAGENT_ERROR its message.",
  },
  "subagent/already-active": {
    reference: "V12",
    severity: "error",
    strict: "error",
    title: "An invocation starts once",
    description: "SUBAGENT_STARTED names a subagent that is active.",
  },
  "subagent/reused": {
    reference: "V12",
    severity: "error",
    strict: "error",
    title: "A subagentRunId is one invocation",
    description: "SUBAGENT_STARTED names an id that already ended in this run.",
  },
  "subagent/unknown-parent": {
    reference: "V12",
    severity: "error",
    strict: "error",
    title: "A parent starts before its child",
    description: "parentSubagentRunId names a subagent that has not started in this run.",
  },
  "subagent/not-active": {
    reference: "V12",
    severity: "error",
    strict: "error",
    title: "Only an active subagent ends",
    description: "SUBAGENT_FINISHED or SUBAGENT_ERROR names a subagent that is not active.",
  },
  "run/open-at-finish": {
    reference: "V13",
    severity: "error",
    strict: "error",
    title: "A run finishes with nothing open",
    description:
      "RUN_FINISHED arrived while steps, messages, reasoning, tool calls or subagents were open.",
  },
  "event/unexpanded-chunk": {
    reference: "§7",
    severity: "error",
    strict: "error",
    title: "Chunks are expanded before they are judged",
    description: "A chunk event reached the automaton: its unit would be open and closed unseen.",
  },
  "run/finish-ids": {
    reference: "E1",
    severity: "error",
    strict: "error",
    title: "RUN_FINISHED names the run it finishes",
    description: "The runId or threadId of RUN_FINISHED differs from that of RUN_STARTED.",
  },
  "run/thread-of-input": {
    reference: "E2",
    severity: "error",
    strict: "error",
    title: "A run belongs to the thread that was asked for",
    description: "RUN_STARTED carries another threadId than the input.",
  },
  "run/requested-run": {
    reference: "E2",
    severity: "warning",
    strict: "error",
    title: "The requested run is on the stream",
    description: "The stream ended and no run on it carried the runId of the input.",
  },
  "run/thread-change": {
    reference: "E3",
    severity: "error",
    strict: "error",
    title: "One stream, one thread",
    description: "A later run on the stream carries another threadId than the first.",
  },
  "run/id-reused": {
    reference: "E4",
    severity: "error",
    strict: "error",
    title: "A runId names one run",
    description: "RUN_STARTED carries a runId that an earlier run on this stream had.",
  },
  "run/truncated": {
    reference: "E5",
    severity: "error",
    strict: "error",
    title: "A stream ends with a terminal event",
    description: "The stream ended while a run was active, or before any run. It is not a success.",
  },
  "interrupt/duplicate-id": {
    reference: "E6",
    severity: "error",
    strict: "error",
    title: "An interrupt id is unique in its outcome",
    description: "Two interrupts of one outcome carry the same id, so that an answer fits both.",
  },
  "tool-call/unknown-result": {
    reference: "E7",
    severity: "warning",
    strict: "error",
    title: "A result answers a call that was seen",
    description:
      "TOOL_CALL_RESULT names a call that neither this stream, its snapshots, its interrupts nor the input mentioned.",
  },
  "tool-call/renamed": {
    reference: "E8",
    severity: "error",
    strict: "error",
    title: "A tool call keeps its name",
    description:
      "TOOL_CALL_START opens a known call under another name. Clients keep the old arguments under the new name.",
  },
  "tool-call/reparented": {
    reference: "E8",
    severity: "warning",
    strict: "error",
    title: "A tool call keeps its message",
    description: "TOOL_CALL_START opens a known call under another parentMessageId.",
  },
  "text/reopen-disagrees": {
    reference: "E8",
    severity: "warning",
    strict: "error",
    title: "A message keeps its role and name",
    description: "TEXT_MESSAGE_START opens a known message with another role or name.",
  },
  "tool-call/pending-list": {
    reference: "E9",
    severity: "warning",
    strict: "error",
    title: "pendingToolCallIds lists what is unanswered",
    description:
      "The list differs from the calls this run started and got no result for, in the order they started.",
  },
  "subagent/announced-late": {
    reference: "E10",
    severity: "warning",
    strict: "error",
    title: "A subagent is announced before it acts",
    description: "SUBAGENT_STARTED names an id that earlier events of this run were tagged with.",
  },
  "run/protocol-version": {
    reference: "E11",
    severity: "warning",
    // A newer version must be served, so even strict does not refuse it.
    strict: "warning",
    title: "protocolVersion reads MAJOR.MINOR",
    description: "RUN_STARTED declares a protocolVersion of another form; it is treated as newer.",
  },
} as const satisfies Readonly<Record<string, OrderRule>>;

/** The stable id of an ordering rule. */
export type OrderRuleId = keyof typeof ORDER_RULES;
