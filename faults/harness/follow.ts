import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakePiece } from "@countersign/testkit";
import { expect } from "vitest";
import { idsOf } from "./agent.js";
import { openRun } from "./client.js";
import type { ClientRun, SeenEvent } from "./client.js";
import { pause, until } from "./scale.js";
import type { Scene } from "./scene.js";

const EVERY_MS = 10;
const PATH = "/agents/support?reconnect=1";

/** People who listen to an agent that says so many words, and come back whenever their line breaks. */
export type Followers = {
  readonly agent: FakeAgent;
  /** Resolves when everybody has an answer; what it gives waits until everybody has heard the end. */
  begin(url: string, people: number): Promise<() => Promise<readonly { events: SeenEvent[] }[]>>;
};

/** Starts their agent. */
export async function createFollowers(scene: Scene, words: number): Promise<Followers> {
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const messageId = `m-${ids.runId}`;
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      for (let word = 0; word < words; word += 1) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `word ${word}` });
        await pause(EVERY_MS);
      }
      yield sseFrame({ type: "TEXT_MESSAGE_END", messageId });
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
    })(),
  }));
  scene.defer(() => agent.stop());
  /** The connections that are open. */
  const begun = new Set<ClientRun>();
  return {
    agent,
    begin: async (url, people) => {
      const all = Promise.all(
        Array.from({ length: people }, (_, number) => follow(url, number, begun)),
      );
      // Whoever fails is met by who waits for all; meanwhile nobody does.
      all.catch(() => undefined);
      const answered = (): boolean =>
        begun.size === people && [...begun].every(({ lastId }) => lastId !== undefined);
      await until("everybody has an answer", answered);
      return () => all;
    },
  };
}

/** One person whose line breaks: comes back with the last id for as long as the run is not over. */
async function follow(
  url: string,
  number: number,
  begun: Set<ClientRun>,
): Promise<{ events: SeenEvent[] }> {
  const ids = { threadId: `t-${number}`, runId: `r-${number}` };
  const events: SeenEvent[] = [];
  let lastId: string | undefined;
  for (let tries = 0; tries < 200; tries += 1) {
    const headers = lastId === undefined ? undefined : { "last-event-id": lastId };
    const run = openRun(url, { ...ids, path: PATH, ...(headers === undefined ? {} : { headers }) });
    begun.add(run);
    await run.ended;
    begun.delete(run);
    events.push(...run.events);
    lastId = run.lastId ?? lastId;
    if (events.at(-1)?.type === "RUN_FINISHED") break;
    if (lastId !== undefined && ![0, 200].includes(run.status)) {
      throw new Error(`the stream was not taken up, but ${run.status}`);
    }
    // Torn before it was answered: there is nothing to come back to, and the run id is used.
    if (lastId === undefined) throw new Error(`no answer, but ${run.status}`);
    await pause(20 + (number % 7) * 10);
  }
  return { events };
}

/** Fails unless these are all events of a run, once and in order. */
export function expectWhole(events: readonly SeenEvent[], words: number): void {
  const said = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(said.map(({ delta }) => delta)).toEqual(said.map((_, word) => `word ${word}`));
  expect(events).toHaveLength(words + 4);
}
