import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFakeAgent, sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { openSqliteKeyedStore } from "../store/sqlite/open-sqlite-store.js";
import { CLIENTS } from "../testing/client.js";
import { idsOf } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { createDice } from "../testing/random-run.js";
import { ThreadAgent } from "../testing/thread-agent.js";
import type { ListTime } from "../testing/thread-agent.js";

const STARTER = readFileSync(
  fileURLToPath(new URL("../../../policy/policies/starter.yaml", import.meta.url)),
  "utf8",
).replace("mode: observe", "mode: enforce");

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of cleanUp.toReversed()) await one();
  cleanUp = [];
});

type Version = keyof typeof CLIENTS | "replacing";

/** A client that takes the list in place of its messages, as TanStack AI does. */
const REPLACING = {
  onMessagesSnapshotEvent: ({ event }: { event: { messages: unknown } }) => ({
    messages: structuredClone(event.messages) as never,
    stopPropagation: true,
  }),
};

/** One turn; `reload` is the number of messages that the page has after a reload before it. */
type Step = {
  readonly reload?: number;
  /** The page disconnects with this list of the run; the agent does not end the run. */
  readonly cutAt?: number;
};
/** The messages that a page shows after a turn, and the error or the block notice. */
type Shown = { readonly ids: readonly string[]; readonly problem?: string };

/** Two turns, then twice a reload and two further turns. */
const stepsOf = (tail: number): Step[] => [
  {},
  {},
  { reload: tail },
  {},
  {},
  { reload: tail },
  {},
  {},
];

type Page = {
  readonly version: Version;
  readonly threadId: string;
  readonly steps: readonly Step[];
  /** Returns the agent's address for the next turn. */
  openUrl(): Promise<string>;
};

const CUT = "/cut";

/** Runs the steps; returns what the page shows after each. */
async function play({ version, threadId, steps, openUrl }: Page): Promise<Shown[]> {
  const Agent = CLIENTS[version === "replacing" ? "0.0.59" : version];
  const seen: Shown[] = [];
  let client: InstanceType<typeof Agent> | undefined;
  for (const [turn, { reload, cutAt }] of steps.entries()) {
    const url = await openUrl();
    if (client === undefined || reload !== undefined) {
      const held = client?.messages ?? [];
      const initialMessages = structuredClone(held.slice(held.length - (reload ?? 0)));
      client = new Agent({ url, threadId, initialMessages });
    }
    const page = client;
    page.url = url;
    page.addMessage({ id: `u${turn}`, role: "user", content: `question ${turn}` });
    let blocked: string | undefined;
    let lists = 0;
    const onEvent = ({ event }: { event: { type: string; name?: string } }): void => {
      if (event.name === "countersign.blocked") blocked = JSON.stringify(event);
      if (event.type === "MESSAGES_SNAPSHOT" && (lists += 1) === cutAt) page.abortRun();
    };
    const subscriber = { ...(version === "replacing" ? REPLACING : {}), onEvent };
    const runId = `${threadId}/${turn}${cutAt === undefined ? "" : CUT}`;
    const failure = await page.runAgent({ runId }, subscriber as never).then(() => "", String);
    const isRefused = cutAt === undefined ? failure !== "" : failure.includes("HTTP");
    const problem = isRefused ? failure : blocked;
    const ids = page.messages.map(({ id }) => id);
    seen.push({ ids, ...(problem === undefined ? {} : { problem }) });
  }
  return seen;
}

const VERSIONS: readonly Version[] = ["1.0.0", "0.0.59", "0.0.55", "replacing"];
const TIMES: readonly (readonly ListTime[])[] = [
  ["start"],
  ["end"],
  ["start", "end"],
  ["early"],
  ["early", "end"],
];
const SEEDS = Number(process.env["RELOAD_SEEDS"] ?? 1);

/** Answers on each thread with an agent of its own. */
function scriptOf(times: readonly ListTime[]): FakeScript {
  const agents = new Map<string, ThreadAgent>();
  return ({ body, signal }) => {
    const { threadId, runId } = idsOf(body);
    const agent = agents.get(threadId) ?? new ThreadAgent(createDice(threadId.length), times);
    agents.set(threadId, agent);
    const frames = agent.run(body).map(sseFrame);
    return { pieces: runId.endsWith(CUT) ? withoutEnd(frames, signal) : frames };
  };
}

/** The frames of a run that goes on until its client disconnects. */
async function* withoutEnd(frames: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  yield* frames.slice(0, -1);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

/** The thread whose agent has this seed. */
const threadOf = (seed: number, tail: number): string => `${tail}`.padEnd(seed, "-");

/** Starts the agent without the gateway. */
async function startDirectly(times: readonly ListTime[]): Promise<string> {
  const agent = await startFakeAgent(scriptOf(times));
  cleanUp.push(() => agent.stop());
  return agent.url;
}

/** Without the gateway, an early list removes the person's new message from the page: then only problems are compared. */
function comparable(shown: readonly Shown[], times: readonly ListTime[]): readonly unknown[] {
  return times.includes("early") ? shown.map(({ problem }) => problem) : shown;
}

test.each(VERSIONS.flatMap((version) => TIMES.map((times) => [version, times] as const)))(
  "page of client %s: lists at %j restore the thread after a reload, and later turns pass, as without the gateway",
  async (version, times) => {
    const direct = await startDirectly(times);
    const fixture = await startFixture(scriptOf(times), { policy: STARTER });
    cleanUp.push(() => fixture.stop());
    const url = `${fixture.url}/agents/support`;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      for (const tail of [0, 1, 3]) {
        const page = { version, threadId: threadOf(seed, tail), steps: stepsOf(tail) };
        const expected = await play({ ...page, openUrl: async () => direct });
        const seen = await play({ ...page, openUrl: async () => url });
        expect(comparable(seen, times)).toEqual(comparable(expected, times));
      }
    }
  },
  120_000,
);

test.each(VERSIONS)(
  "page of client %s: later turns pass also after runs that the page left",
  async (version) => {
    const times: readonly ListTime[] = ["start", "end"];
    const fixture = await startFixture(scriptOf(times), { policy: STARTER });
    cleanUp.push(() => fixture.stop());
    const { sessions } = fixture.gateway.context;
    const openUrl = async (): Promise<string> => {
      await expect.poll(() => sessions.openRuns(), { timeout: 20_000 }).toEqual([]);
      return `${fixture.url}/agents/support`;
    };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const dice = createDice(seed);
      for (const tail of [0, 1, 3]) {
        const steps = stepsOf(tail).map((step) =>
          dice.chance(0.4) ? { ...step, cutAt: 1 + dice.below(times.length) } : step,
        );
        const threadId = threadOf(seed + 5, tail);
        const seen = await play({ version, threadId, steps, openUrl });
        expect({ steps, problems: seen.flatMap(({ problem }) => problem ?? []) }).toEqual({
          steps,
          problems: [],
        });
      }
    }
  },
  120_000,
);

test.each(VERSIONS)(
  "page of client %s: later turns pass also when the gateway restarts before each of them",
  async (version) => {
    const directory = await mkdtemp(join(tmpdir(), "countersign-reload-"));
    cleanUp.push(() => rm(directory, { recursive: true, force: true }));
    for (const [index, times] of TIMES.entries()) {
      const page = { version, threadId: threadOf(index + 1, 0), steps: stepsOf(0) };
      const direct = await startDirectly(times);
      const expected = await play({ ...page, openUrl: async () => direct });
      const script = scriptOf(times);
      let fixture: Fixture | undefined;
      const stop = async (): Promise<void> => {
        await fixture?.stop();
        fixture = undefined;
      };
      cleanUp.push(stop);
      const restart = async (): Promise<string> => {
        await stop();
        const ledger = await openSqliteKeyedStore({ directory, clock: SYSTEM_CLOCK });
        fixture = await startFixture(script, { policy: STARTER, gateway: { ledger } });
        return `${fixture.url}/agents/support`;
      };
      const seen = await play({ ...page, openUrl: restart });
      expect(comparable(seen, times)).toEqual(comparable(expected, times));
      await stop();
    }
  },
  120_000,
);
