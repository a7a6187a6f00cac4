import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { sseEvents } from "../testing/transports.js";

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
`;

let script: (request: FakeRequest) => object[];
let fixture: Fixture;
let threads = 0;
beforeAll(async () => {
  fixture = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    policy: POLICY,
  });
});
afterAll(() => fixture.stop());

/** `colour` is a tool of the client: the client makes the call as soon as it is complete. */
const TOOLS = ["pay", "look", "colour"] as const;
type Tool = (typeof TOOLS)[number];
const COLOUR = { name: "colour", description: "", parameters: {} };

type Call = {
  readonly id: string;
  readonly tool: Tool;
  readonly args: string;
  /** How the agent announces the call. */
  readonly form: "streamed" | "listed" | "both";
  /** How the agent carries the call out in the same run. */
  readonly made: "not" | "result" | "listed result" | "subagent";
  readonly isAsked: boolean;
};

/** What the person does before a run; the answers alternate over the open questions. */
type Turn = {
  /** `says nothing`: a request without an answer, as of a reloaded page. `withdraws`: declines what a failed run was given. */
  readonly person: "answers" | "says nothing" | "withdraws";
  readonly answers: readonly ("approve" | "decline" | "cancel")[];
  readonly calls: readonly Omit<Call, "id">[];
  /** How the agent carries out the calls that the person was asked about, before or after the new calls; alternating like the answers. */
  readonly asked: readonly {
    form: "not" | "result" | "listed result" | "subagent";
    isLate: boolean;
  }[];
  readonly end: "success" | "error" | "cut";
};

type Seen = ReturnType<typeof sseEvents>[number];
type Question = { id: string; toolCallId: string };
type ListedCall = { id: string; function: { name: string; arguments: string } };
type StreamEvent = {
  type: string;
  toolCallId: string;
  toolCallName: string;
  messageId: string;
  subagentRunId: string;
  delta: string;
  messages: { id: string; role: string; toolCallId: string; toolCalls?: ListedCall[] }[];
  outcome?: { interrupts?: Question[] };
};

const listOf = (calls: readonly Call[]): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: calls.flatMap(({ id, tool, args, made }) => [
    {
      id: `m-${id}`,
      role: "assistant",
      toolCalls: [{ id, type: "function", function: { name: tool, arguments: args } }],
    },
    ...(made === "listed result"
      ? [{ id: `res-${id}`, role: "tool", toolCallId: id, content: "done" }]
      : []),
  ]),
});

const resultOf = (id: string): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: `res-${id}`,
  toolCallId: id,
  content: "done",
});

type Old = {
  readonly id: string;
  readonly form: Turn["asked"][number]["form"];
  readonly isLate: boolean;
};

/** The agent's events for a call of an earlier run. */
function eventsOfOld({ id, form }: Old, runId: string): object[] {
  const messageId = `old-${runId}-${id}`;
  const tool = { role: "tool", toolCallId: id, content: "done" };
  if (form === "result") return [{ ...tool, type: "TOOL_CALL_RESULT", messageId }];
  if (form === "listed result") {
    return [{ type: "MESSAGES_SNAPSHOT", messages: [{ ...tool, id: messageId }] }];
  }
  return form === "not" ? [] : subagentOf(messageId, id);
}

const subagentOf = (subagentRunId: string, parentToolCallId: string): object[] => [
  { type: "SUBAGENT_STARTED", subagentRunId, name: "s", parentToolCallId },
  { type: "SUBAGENT_FINISHED", subagentRunId },
];

/** The agent's events for the calls of a run. */
function eventsOf(calls: readonly Call[]): object[] {
  const streamed = calls.flatMap(({ id, tool, args, form, made }) => [
    ...(form === "listed"
      ? []
      : call(id, tool, args).map((event) =>
          event.type === "TOOL_CALL_START" ? { ...event, parentMessageId: `m-${id}` } : event,
        )),
    ...text(`t-${id}`, "a text after the call"),
    ...(made === "result" && form !== "listed" ? [resultOf(id)] : []),
    ...(made === "subagent" ? subagentOf(`s-${id}`, id) : []),
  ]);
  const listed = calls.filter(({ form, made }) => form !== "streamed" || made === "listed result");
  if (listed.length === 0) return streamed;
  const later = listed.filter(({ form, made }) => form === "listed" && made === "result");
  return [...streamed, listOf(listed), ...later.map(({ id }) => resultOf(id))];
}

const keyOf = ({ tool, args }: { tool: string; args: string }): string => `${tool} ${args}`;

type Answer = { interruptId: string; status: string; payload?: { approved: boolean } };
const isGrant = ({ payload }: Answer): boolean => payload?.approved === true;

/** The calls and results that a client has after a stream, with the questions at its end. */
function readStream(events: readonly Seen[]) {
  const calls = new Map<string, { tool: string; args: string }>();
  const results = new Set<string>();
  /** The ids of results and of subagents. */
  const acts = new Set<string>();
  let questions: readonly Question[] = [];
  for (const event of events as unknown as StreamEvent[]) {
    const { type, toolCallId } = event;
    if (type === "TOOL_CALL_START") calls.set(toolCallId, { tool: event.toolCallName, args: "" });
    if (type === "TOOL_CALL_ARGS") {
      const known = calls.get(toolCallId);
      if (known !== undefined) known.args += event.delta;
    }
    if (type === "TOOL_CALL_RESULT") {
      results.add(toolCallId);
      acts.add(event.messageId);
    }
    if (type === "SUBAGENT_STARTED") acts.add(event.subagentRunId);
    if (type === "MESSAGES_SNAPSHOT") {
      for (const message of event.messages) {
        if (message.role === "tool") {
          results.add(message.toolCallId);
          acts.add(message.id);
        }
        for (const { id, function: called } of message.toolCalls ?? []) {
          calls.set(id, { tool: called.name, args: called.arguments });
        }
      }
    }
    if (type === "RUN_FINISHED") questions = event.outcome?.interrupts ?? [];
  }
  return { calls, results, acts, questions };
}

const CALL = fc.record({
  tool: fc.constantFrom(...TOOLS),
  args: fc.constantFrom('{"n":1}', '{"n":2}'),
  form: fc.constantFrom("streamed" as const, "listed" as const, "both" as const),
  made: fc.constantFrom(
    "not" as const,
    "not" as const,
    "not" as const,
    "result" as const,
    "listed result" as const,
    "subagent" as const,
  ),
  isAsked: fc.boolean(),
});
const TURNS = fc.array(
  fc.record({
    person: fc.constantFrom(
      "answers" as const,
      "answers" as const,
      "says nothing" as const,
      "withdraws" as const,
    ),
    answers: fc.array(fc.constantFrom("approve" as const, "decline" as const, "cancel" as const), {
      minLength: 1,
      maxLength: 3,
    }),
    calls: fc.array(CALL, { maxLength: 4 }),
    asked: fc.array(
      fc.record({
        form: fc.constantFrom(
          "not" as const,
          "not" as const,
          "result" as const,
          "listed result" as const,
          "subagent" as const,
        ),
        isLate: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    end: fc.constantFrom("success" as const, "success" as const, "error" as const, "cut" as const),
  }),
  { minLength: 2, maxLength: 4 },
);

/** An open question, with the call that used its approval in a run that failed. */
type Asked = {
  id: string;
  toolCallId: string;
  call: { tool: string; args: string };
  usedBy?: string;
};

/** One thread: the person's answers, and what the agent may do because of them. */
class Thread {
  readonly #id = `t${++threads}`;
  #runs = 0;
  #open: Asked[] = [];
  readonly #declined = new Set<string>();
  /** The answers of a run that broke off; the client repeats them. */
  #repeated: Answer[] | undefined;
  /** Every difference from what this test expects. */
  readonly problems: string[] = [];

  async turn({ person, answers, calls, asked: ways, end }: Turn): Promise<void> {
    this.#runs += 1;
    const runId = `r${this.#runs}`;
    const isSilent = person === "says nothing" && this.#open.length > 0;
    const given: Answer[] =
      this.#repeated ??
      this.#open.map(({ id }, index) => {
        const answer = answers[index % answers.length];
        return answer === "cancel"
          ? { interruptId: id, status: "cancelled" }
          : { interruptId: id, status: "resolved", payload: { approved: answer === "approve" } };
      });
    const resume = isSilent
      ? []
      : person === "withdraws" && this.#repeated !== undefined
        ? given.map((one) => (isGrant(one) ? { ...one, payload: { approved: false } } : one))
        : given;
    const asked = new Set(this.#open.map(({ call: { tool } }) => tool));
    const answered = (isGranted: boolean): Asked[] =>
      resume
        .filter((answer) => isGrant(answer) === isGranted)
        .flatMap(({ interruptId }) => this.#open.filter(({ id }) => id === interruptId));
    const approved = answered(true);
    const old = this.#open.map(({ toolCallId }, index): Old => {
      const { form, isLate } = ways[index % ways.length] as Turn["asked"][number];
      return { id: toolCallId, form, isLate };
    });
    for (const one of approved) this.#declined.delete(keyOf(one.call));
    for (const one of answered(false)) this.#declined.add(keyOf(one.call));
    const own = calls.map((one, index) => ({
      ...one,
      id: `${this.#id}-${runId}-c${index}`,
      // Only the client answers its own tools.
      made: one.tool === "colour" ? ("not" as const) : one.made,
    }));
    const interrupts = own
      .filter(({ isAsked }) => isAsked)
      .map(({ id }) => ({ id: `q-${id}`, reason: "tool_call", toolCallId: id }));
    script = ({ body }) => {
      const ids = idsOf(body);
      const olds = (isLate: boolean): object[] =>
        old.filter((one) => one.isLate === isLate).flatMap((one) => eventsOfOld(one, runId));
      const all = inRun(ids, [...olds(false), ...eventsOf(own), ...olds(true)]);
      if (end === "cut") return all.slice(0, -1);
      if (end === "error") return [...all.slice(0, -1), { type: "RUN_ERROR", message: "no" }];
      const outcome = { type: "interrupt", interrupts };
      return interrupts.length === 0 ? all : [...all.slice(0, -1), { ...all.at(-1), outcome }];
    };
    const response = await fetch(`${fixture.url}/agents/support`, {
      method: "POST",
      body: JSON.stringify({
        threadId: this.#id,
        runId,
        protocolVersion: "1.0",
        messages: [],
        tools: [COLOUR],
        ...(resume.length === 0 ? {} : { resume }),
      }),
    });
    const stream = await response.text();
    if (response.status !== 200) this.problems.push(stream);
    const events = sseEvents(stream);
    const seen = readStream(events);
    // Every text arrives, and nothing overtakes an event before it.
    const sent = own.flatMap(({ id, form }) => [...(form === "listed" ? [] : [id]), `t-${id}`]);
    const arrived = events.flatMap((event) =>
      event.type === "TEXT_MESSAGE_START"
        ? [`${event["messageId"]}`]
        : event.type === "TOOL_CALL_START"
          ? [`${event["toolCallId"]}`]
          : [],
    );
    const expected = sent.filter((id) => id.startsWith("t-") || arrived.includes(id));
    if (`${arrived}` !== `${expected}`) this.problems.push(`${arrived} instead of ${expected}`);
    const carriesOut = (isLate: boolean): void => {
      for (const one of old)
        if (one.isLate === isLate) this.#checkOld(one, runId, isSilent, approved, seen);
    };
    carriesOut(false);
    this.#check(own, seen, { asked, approved, end });
    carriesOut(true);
    const isOver = events.some(({ type }) => type === "RUN_FINISHED");
    if (isSilent) {
      if (!isOver) return;
      // Questions about other calls stay open, with the answer of a failed run.
      const again = new Set(
        seen.questions.flatMap(({ toolCallId }) => seen.calls.get(toolCallId) ?? []).map(keyOf),
      );
      this.#open = this.#open.filter((one) => !again.has(keyOf(one.call)));
    } else {
      this.#repeated = isOver || resume.length === 0 ? undefined : resume;
      if (!isOver) return;
      this.#open = [];
    }
    const ids = new Set(this.#open.map(({ id }) => id));
    this.#repeated = this.#repeated?.filter(({ interruptId }) => ids.has(interruptId));
    for (const { id, toolCallId } of seen.questions) {
      const call = seen.calls.get(toolCallId) as { tool: string; args: string };
      this.#open.push({ id, toolCallId, call });
      this.#repeated?.push({ interruptId: id, status: "cancelled" });
    }
    if (this.#repeated?.length === 0) this.#repeated = undefined;
  }

  /** A call that the person was asked about is carried out once for each approval, in any form; a declined call has a result at most. */
  #checkOld(
    { id, form }: Old,
    runId: string,
    isSilent: boolean,
    approved: readonly Asked[],
    { acts }: ReturnType<typeof readStream>,
  ): void {
    const question = this.#open.find(({ toolCallId }) => toolCallId === id) as Asked;
    // Only the client answers its own tools.
    const isResult = form !== "subagent";
    if (form === "not" || (isResult && question.call.tool === "colour")) return;
    const equal = approved.filter(({ call }) => keyOf(call) === keyOf(question.call));
    const free = [question, ...equal].find(
      (one) => equal.includes(one) && one.usedBy === undefined,
    );
    const isOwn = equal.some(({ usedBy }) => usedBy === id);
    const isGranted = approved.includes(question);
    const isAllowed = isSilent
      ? false
      : isGranted || (!isResult && equal.length > 0)
        ? isOwn || free !== undefined
        : isResult;
    if (isAllowed && !isOwn && free !== undefined && (isGranted || !isResult)) free.usedBy = id;
    if (acts.has(`old-${runId}-${id}`) === isAllowed) return;
    this.problems.push(`old ${JSON.stringify({ question, form, isAllowed, isSilent, approved })}`);
  }

  /** An act that needs approval happens only if the person approved exactly it; every question reaches the person. */
  #check(
    own: readonly Call[],
    { calls, results, acts, questions }: ReturnType<typeof readStream>,
    { asked, approved, end }: { asked: Set<string>; approved: Asked[]; end: Turn["end"] },
  ): void {
    const questioned = new Set(questions.map(({ toolCallId }) => toolCallId));
    // A list is after the streamed calls.
    const arrived = [
      ...own.filter(({ form }) => form !== "listed"),
      ...own.filter(({ form }) => form === "listed"),
    ];
    for (const one of arrived) {
      const key = keyOf(one);
      const isBound = asked.has(one.tool) || this.#declined.has(key);
      const free = approved.find(({ call, usedBy }) => keyOf(call) === key && usedBy === undefined);
      const isApproved = free !== undefined;
      if (free !== undefined) free.usedBy = one.id;
      const isQuestion =
        one.isAsked && one.made === "not" && end === "success" && one.tool !== "colour";
      const place = JSON.stringify({ one, approved, declined: [...this.#declined], end });
      const isShown = calls.has(one.id);
      const find = (isFound: boolean, problem: string): void => {
        if (isFound) this.problems.push(`${problem}: ${place}`);
      };
      find(isShown !== (!isBound || isApproved || isQuestion), isShown ? "call" : "no call");
      find(isBound && !isApproved && results.has(one.id), "result");
      // Before a list has its call, the gateway does not know which call a subagent is for.
      const isKnown = one.form !== "listed";
      find(isBound && !isApproved && isKnown && acts.has(`s-${one.id}`), "subagent");
      find(isQuestion && !questioned.has(one.id), "no question");
      find(questioned.has(one.id) && !isShown, "question without its call");
    }
  }
}

test("an act that needs approval happens only if the person approved it, and every question reaches the person", async () => {
  await fc.assert(
    fc.asyncProperty(TURNS, async (turns) => {
      const thread = new Thread();
      for (const turn of turns) await thread.turn(turn);
      expect(thread.problems).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
