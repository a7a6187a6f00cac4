import { compilePolicy, loadPolicy } from "@countersign/policy";
import type { CompiledPolicy } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { ThreadAdmission } from "./thread-admission.js";
import { call, text } from "../testing/events.js";
import { createDice, RandomAgent } from "../testing/random-run.js";
import type { Dice } from "../testing/random-run.js";

const POLICY = compilePolicy(loadPolicy('hushspec: "0.1.0"\nrules: {}\n'));
const TOOLS = [{ name: "ask", description: "asks", parameters: { type: "object" } }];
const ENDS = ["hang-up", "truncation", "kill"] as const;
type End = (typeof ENDS)[number];

const user = (id: string, content = id): Message => ({ id, role: "user", content });
const said = (id: string, content: string): Message => ({ id, role: "assistant", content });
const U = user("u");
const GO = user("go");

type Judge = (messages: readonly Message[]) => Promise<string[]>;

/** A thread with one question and a run that delivered these events and broke off; returns the codes of later refusals. */
async function breakOff(
  events: readonly (object | readonly object[])[],
  end: End | "finished",
  policy = POLICY,
): Promise<{ judge: Judge; say: Judge; remarks: Judge; states: Message[][] }> {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  let threadAdmission = new ThreadAdmission(ledger, SYSTEM_CLOCK);
  let runs = 0;
  const ask = (messages: readonly Message[]) =>
    threadAdmission.open({
      agent: "a",
      threadScope: "",
      principal: { id: "somebody" },
      policy,
      input: {
        threadId: "t",
        runId: `r${(runs += 1)}`,
        protocolVersion: "1.0",
        messages: [...messages],
        tools: TOOLS,
      },
    });
  const threadLease = await ask([U]);
  await threadLease.accept();
  const follow = threadLease.follow("1.0");
  const reducer = createReducer({ messages: [U] });
  const states: Message[][] = [[U]];
  for (const event of [{ type: "RUN_STARTED", threadId: "t", runId: "r1" }, ...events]) {
    const together = [event].flat() as AgUiEvent[];
    await follow(together);
    for (const each of together) reducer.push(each);
    states.push(structuredClone([...reducer.snapshot().messages]));
  }
  // A killed gateway stores nothing.
  if (end === "kill") threadAdmission = new ThreadAdmission(ledger, SYSTEM_CLOCK);
  else {
    const over = { type: "RUN_FINISHED", threadId: "t", runId: "r1" };
    if (end === "finished") await follow([over as AgUiEvent]);
    await threadLease.end(end !== "hang-up");
  }
  const codesOf = async (messages: readonly Message[], isSaid: boolean): Promise<string[]> => {
    const next = await ask(messages);
    const codes = next.findings
      .filter(({ isReportOnly }) => isReportOnly !== true)
      .map(({ code }) => code);
    if (isSaid && codes.length === 0) {
      await next.accept();
      next.follow("1.0");
      await next.end(false);
    } else await next.abandon(false);
    return codes;
  };
  return {
    judge: (messages) => codesOf(messages, false),
    say: (messages) => codesOf(messages, true),
    remarks: async (messages) => {
      const next = await ask(messages);
      await next.abandon(false);
      return next.findings
        .filter(({ isReportOnly }) => isReportOnly === true)
        .map(({ code }) => code);
    },
    states,
  };
}

const REFUSAL = [...text("m1", "I refuse."), ...text("m2", "Transfer of 5 EUR is fine")];
const M1 = said("m1", "I refuse.");
const M2 = said("m2", "Transfer of 5 EUR is fine");

test.each(ENDS)(
  "after a %s a client cannot remove anything from the agent's messages",
  async (end) => {
    const { judge } = await breakOff(REFUSAL, end);
    for (const [name, messages] of Object.entries({
      "without the refusal": [U, M2],
      "with an empty refusal": [U, said("m1", ""), M2],
      "in another order": [U, M2, M1],
      "behind a new question": [U, user("q", "May I transfer 5 EUR?"), M2, GO],
      "behind a new question, with the refusal emptied": [U, said("m1", ""), user("q"), M2, GO],
    })) {
      expect([name, (await judge(messages)).length]).toEqual([name, 1]);
      expect([name, (await judge([...messages, user("z")])).length]).toEqual([name, 1]);
    }
    expect(await judge([U, M1, M2, GO])).toEqual([]);
    expect(await judge([U, M1, GO])).toEqual([]);
    expect(await judge([U, GO])).toEqual([]);
    expect(await judge([GO])).toEqual([]);
  },
);

test.each(ENDS)("after a %s a call is answered together with its message", async (end) => {
  const { judge } = await breakOff(call("c1", "ask", "{}"), end);
  const result: Message = { id: "t1", role: "tool", toolCallId: "c1", content: "yes" };
  const called: Message = {
    id: "c1",
    role: "assistant",
    toolCalls: [{ id: "c1", type: "function", function: { name: "ask", arguments: "{}" } }],
  };
  expect(await judge([U, result])).toEqual(["ERR_HISTORY_DROPPED"]);
  expect(await judge([U, called, result])).toEqual([]);
  // A client that sends only new messages.
  expect(await judge([result])).toEqual([]);
});

test.each(ENDS)(
  "after a %s a message that was accepted once is final, in any number of steps",
  async (end) => {
    const tail = await breakOff(REFUSAL, end);
    expect(await tail.say([M2, GO])).toEqual([]);
    expect(await tail.judge([U, M2, GO, user("z")])).toEqual(["ERR_HISTORY_DROPPED"]);
    expect(await tail.judge([U, M1, M2, GO, user("z")])).toEqual([]);
    const none = await breakOff(REFUSAL, end);
    expect(await none.say([U, M1, GO])).toEqual([]);
    expect(await none.judge([U, M1, GO, M2])).not.toEqual([]);
    expect(await none.judge([U, M1, M2, GO])).not.toEqual([]);
    expect(await none.judge([U, M1, GO, user("z")])).toEqual([]);
  },
);

test("a question before an older answer is reported, or refused", async () => {
  const asked = [U, M1, user("q", "May I transfer 5 EUR?"), M2];
  const setting = (interleaved: string): CompiledPolicy =>
    compilePolicy(
      loadPolicy(
        `hushspec: "0.1.0"\nrules:\n  ag_ui_request: { history: { interleaved: ${interleaved} } }\n`,
      ),
    );
  for (const end of ["finished", ...ENDS] as const) {
    const accepting = await breakOff(REFUSAL, end, setting("accept"));
    expect(await accepting.judge(asked)).toEqual([]);
    expect(await accepting.remarks(asked)).toEqual(["ERR_HISTORY_INTERLEAVED"]);
    expect(await accepting.remarks([U, M1, M2, GO])).toEqual([]);
    const refusing = await breakOff(REFUSAL, end, setting("refuse"));
    expect(await refusing.judge(asked)).toEqual(["ERR_HISTORY_INTERLEAVED"]);
    expect(await refusing.judge([U, user("q"), M1, M2])).toEqual(["ERR_HISTORY_INTERLEAVED"]);
    expect(await refusing.judge([U, M1, M2, GO])).toEqual([]);
  }
});

/** Messages, reasoning, calls and results, several of them open at once. */
function interleaved(dice: Dice): object[] {
  const events: object[] = [];
  const texts: { id: string; kind: string }[] = [];
  const calls: string[] = [];
  const ended: string[] = [];
  const said: string[] = [];
  let count = 0;
  const take = <Item>(items: Item[]): Item => items.splice(dice.below(items.length), 1)[0] as Item;
  for (let step = 0; step < 24; step += 1) {
    count += 1;
    const open = texts[dice.below(texts.length)];
    const delta = `[${count} `;
    switch (dice.below(8)) {
      case 0: {
        const kind = dice.chance(0.3) ? "REASONING" : "TEXT";
        texts.push({ id: `m${count}`, kind });
        if (kind === "TEXT") said.push(`m${count}`);
        const role = kind === "TEXT" ? "assistant" : "reasoning";
        events.push({ type: `${kind}_MESSAGE_START`, messageId: `m${count}`, role });
        break;
      }
      case 1: {
        const toolCallId = `c${count}`;
        const parent = dice.chance(0.5) ? said[dice.below(said.length)] : undefined;
        const owner = parent === undefined ? {} : { parentMessageId: parent };
        calls.push(toolCallId);
        events.push({ type: "TOOL_CALL_START", toolCallId, toolCallName: "look", ...owner });
        break;
      }
      case 2: {
        const toolCallId = calls[dice.below(calls.length)];
        if (toolCallId !== undefined) events.push({ type: "TOOL_CALL_ARGS", toolCallId, delta });
        break;
      }
      case 3: {
        if (calls.length === 0) break;
        const toolCallId = take(calls);
        ended.push(toolCallId);
        events.push({ type: "TOOL_CALL_END", toolCallId });
        break;
      }
      case 4: {
        if (ended.length === 0) break;
        const answer = { messageId: `t${count}`, toolCallId: take(ended), content: "found" };
        events.push({ type: "TOOL_CALL_RESULT", ...answer });
        break;
      }
      case 5: {
        if (texts.length === 0) break;
        const { id, kind } = take(texts);
        events.push({ type: `${kind}_MESSAGE_END`, messageId: id });
        break;
      }
      default:
        if (open === undefined) break;
        events.push({ type: `${open.kind}_MESSAGE_CONTENT`, messageId: open.id, delta });
    }
  }
  return events;
}

/** The histories that a client could send: for each message a version that it once had, or none. */
function mixed(states: readonly Message[][], dice: Dice): Message[] {
  const last = states.at(-1) ?? [];
  const base = states[dice.below(states.length)] ?? last;
  const mostly = dice.chance(0.5) ? base : last;
  const result = mostly.flatMap((message) => {
    if (message.id === "u" || dice.chance(0.7)) return [message];
    if (dice.chance(0.4)) return [];
    const other = states[dice.below(states.length)]?.find(({ id }) => id === message.id);
    return other === undefined ? [] : [other];
  });
  if (dice.chance(0.1) && result.length > 2) {
    const at = 1 + dice.below(result.length - 2);
    result.splice(at, 2, result[at + 1] as Message, result[at] as Message);
  }
  return result;
}

/** The compared parts of a history. */
const nameOf = (messages: readonly Message[]): string =>
  JSON.stringify(
    messages.map(({ id, content, ...rest }) => {
      const calls = "toolCalls" in rest ? rest.toolCalls : [];
      return [id, content ?? "", calls?.map((each) => [each.id, each.function.arguments])];
    }),
  );

/**
 * The content of a history without its division into messages (see regroup.test.ts): without messages in which the agent says nothing, and
 * with reasoning before the text that it can be joined with.
 */
const spoken = (messages: readonly Message[]): Message[] => {
  const said = messages.filter(
    (message) => message.content || ("toolCalls" in message && message.toolCalls?.length),
  );
  const isThought = ({ role }: Message): boolean => role === "reasoning";
  return [...said.filter(isThought), ...said.filter((message) => !isThought(message))];
};

test("a disconnected client may have the messages of any one moment, and no mixture of moments", async () => {
  const tried = { held: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.constantFrom("hang-up", "truncation"), async (seed, end) => {
      const dice = createDice(seed);
      const { judge, states } = await breakOff(interleaved(dice), end as End);
      const honest = new Set(states.map(nameOf));
      const said = new Set(states.map((state) => nameOf(spoken(state))));
      for (const state of states) expect(await judge([...state, GO])).toEqual([]);
      for (let time = 0; time < 20; time += 1) {
        const claimed = mixed(states, dice);
        const isHonest = honest.has(nameOf(claimed));
        if (!isHonest && said.has(nameOf(spoken(claimed)))) continue;
        tried[isHonest ? "held" : "refused"] += 1;
        const codes = await judge([...claimed, GO]);
        expect([isHonest, codes.length === 0], nameOf(claimed)).toEqual([isHonest, isHonest]);
      }
    }),
    { seed: 20_261_116, numRuns: Number(process.env["HISTORY_RUNS"] ?? 60) },
  );
  expect(Math.min(tried.held, tried.refused)).toBeGreaterThan(100);
});

test("a client that disconnects before, between or after message lists is accepted", async () => {
  let lists = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const agent = new RandomAgent(createDice(seed), { subagents: true, interrupts: false });
      const run = agent.run({ threadId: "t", runId: "r1", messages: [U] });
      const events = run
        .filter(({ type }) => !type.startsWith("RUN_"))
        .map((event) => ({ ...event, metadata: undefined }));
      lists += events.filter(({ type }) => type === "MESSAGES_SNAPSHOT").length;
      const { judge, states } = await breakOff(events, "hang-up");
      for (const state of states) {
        const sent = state.filter(({ role }) => role !== "activity");
        expect(await judge([...sent, GO]), nameOf(sent)).toEqual([]);
      }
    }),
    { seed: 20_261_116, numRuns: Number(process.env["HISTORY_RUNS"] ?? 60) },
  );
  expect(lists).toBeGreaterThan(10);
});

test("a message that the agent removes and sends again at once is part of the history", async () => {
  const list = (...messages: Message[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });
  const events = [...text("m1", "yes"), list(U), list(U, said("m1", "yes"))];
  for (const end of ["finished", ...ENDS] as const) {
    const { judge } = await breakOff([events], end);
    expect([end, await judge([U, said("m1", "yes"), GO])]).toEqual([end, []]);
    expect([end, await judge([U, said("m1", "no"), GO])]).not.toEqual([end, []]);
  }
});

test("after a kill a client has the first messages in their order, and finished messages complete", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const dice = createDice(seed);
      const { judge, states } = await breakOff(interleaved(dice), "kill");
      const last = states.at(-1) ?? [];
      const orderOf = (state: readonly Message[]): string => state.map(({ id }) => id).join();
      const orders = new Set(states.flatMap((state) => [state, spoken(state)]).map(orderOf));
      expect(await judge([...last, GO]), nameOf(last)).toEqual([]);
      for (let time = 0; time < 20; time += 1) {
        const claimed = mixed(states, dice);
        if (orders.has(orderOf(claimed)) || orders.has(orderOf(spoken(claimed)))) continue;
        refused += 1;
        expect(await judge([...claimed, GO]), nameOf(claimed)).not.toEqual([]);
      }
    }),
    { seed: 20_261_116, numRuns: Number(process.env["HISTORY_RUNS"] ?? 60) },
  );
  expect(refused).toBeGreaterThan(100);
});
