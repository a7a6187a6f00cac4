import { sseFrame, startFakeAgent, startPostgres } from "@countersign/testkit";
import type { FakeAgent, FakePiece, RunningPostgres } from "@countersign/testkit";
import { createHash } from "node:crypto";
import { gone, idsOf, inRun, message } from "./agent.js";
import { startFleet } from "./fleet.js";
import { OPEN_POLICY, writeSettings } from "./gateway.js";
import type { GatewayProcess } from "./gateway.js";
import { pause, until } from "./scale.js";
import type { Scene } from "./scene.js";

/** Changes of the page need a token. */
const GUARDED = OPEN_POLICY.replace("restricted_classifications: []", "").replace(/^\s*\n/gmu, "");
const KEYS = { alice: "csk_alice", bob: "csk_bob" } as const;
/** A message on the screen. */
export const bearer = (who: keyof typeof KEYS): { authorization: string } => ({
  authorization: `Bearer ${KEYS[who]}`,
});
const hashOf = (key: string): string => `sha256:${createHash("sha256").update(key).digest("hex")}`;

/** Two gateways on one database. */
export type Pair = {
  readonly store: RunningPostgres;
  readonly agent: FakeAgent;
  readonly directories: readonly [string, string];
  readonly gateways: [GatewayProcess, GatewayProcess];
  readonly admin: string;
};

/** Two gateways of one log: the second has the keys of the first. The agent changes the page for ever when asked to. */
export async function startPair(scene: Scene): Promise<Pair> {
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      if (!ids.threadId.startsWith("changing")) {
        yield* inRun(ids, message(`m-${ids.runId}`, "hi")).map(sseFrame);
        return;
      }
      const left = gone(request);
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      for (let count = 0; !request.signal.aborted; count += 1) {
        yield sseFrame({ type: "STATE_SNAPSHOT", snapshot: { count } });
        await Promise.race([pause(10), left]);
      }
    })(),
  }));
  scene.defer(() => agent.stop());
  const config = {
    receipts: { store: store.url },
    access: {
      mode: "keys",
      keys: { entries: { alice: hashOf(KEYS.alice), bob: hashOf(KEYS.bob) } },
    },
  };
  const directories = [await scene.directory(), await scene.directory()] as const;
  const settings = { agent: agent.url, config, policy: GUARDED };
  for (const directory of directories) writeSettings(directory, settings);
  const gateways = (await startFleet(scene, directories)) as [GatewayProcess, GatewayProcess];
  const [first] = gateways;
  await until("the admin token was shown", () => /shown once: \S{43}/u.test(first.output()));
  const admin = /shown once: (\S{43})/u.exec(first.output())?.[1] as string;
  return { store, agent, directories, gateways, admin };
}

/** Asks the control plane of one of them. */
export async function control(
  pair: Pair,
  at: 0 | 1,
  path: string,
  body: object,
): Promise<Response> {
  return fetch(`${pair.gateways[at].controlUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${pair.admin}` },
    body: JSON.stringify(body),
  });
}
