import { sseFrame, startFakeAgent, startPostgres } from "@countersign/testkit";
import type { FakePiece, RunningPostgres } from "@countersign/testkit";
import { expect } from "vitest";
import { gone, idsOf } from "./agent.js";
import { openRun } from "./client.js";
import type { ClientRun } from "./client.js";
import { startFleet } from "./fleet.js";
import { OPEN_POLICY, startIn, writeSettings } from "./gateway.js";
import type { GatewayProcess } from "./gateway.js";
import { checkLog, unreceipted } from "./log.js";
import { pause, until } from "./scale.js";
import type { Scene } from "./scene.js";
import { decidedAt, mostWithin } from "./windows.js";

/** One session that sends much more than its cap through several gateways. */
export type HammeredSession = {
  readonly store: RunningPostgres;
  readonly gateways: readonly GatewayProcess[];
  /** Kills a gateway and starts it again. */
  restart(place: number): Promise<void>;
  /** Waits until this many more events were delivered. */
  goesOn(what: string, more: number): Promise<void>;
  /** Stops all; the decided and the allowed events, and the most that one window has, by the log alone. */
  end(): Promise<{ readonly decided: number; readonly allowed: number; readonly most: number }>;
};

/** Starts the gateways, and streams of one session at each. */
export async function hammerSession(
  scene: Scene,
  options: {
    readonly gateways: number;
    readonly streams: number;
    readonly cap: number;
    readonly windowSeconds: number;
    /** The block `cluster` of their configuration. */
    readonly cluster?: object;
  },
): Promise<HammeredSession> {
  const { cap, windowSeconds, streams, cluster } = options;
  const policy = `${OPEN_POLICY}  velocity:
    - { id: notes, match: { event_type: custom }, max_invocations: ${cap}, window_seconds: ${windowSeconds} }
`;
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      const left = gone(request);
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      for (let count = 0; !request.signal.aborted; count += 1) {
        yield sseFrame({ type: "CUSTOM", name: "note", value: `${ids.runId} ${count}` });
        await Promise.race([pause(40), left]);
      }
    })(),
  }));
  scene.defer(() => agent.stop());
  const directories: string[] = [];
  for (let number = 0; number < options.gateways; number += 1) {
    directories.push(await scene.directory());
  }
  const config = {
    receipts: { store: store.url },
    ...(cluster === undefined ? {} : { cluster }),
  };
  for (const directory of directories) {
    writeSettings(directory, { agent: agent.url, config, policy });
  }
  const gateways = await startFleet(scene, directories);
  const runs: ClientRun[] = [];
  const notes = (): number =>
    runs.reduce(
      (sum, { events }) => sum + events.filter(({ type }) => type === "CUSTOM").length,
      0,
    );
  const hammer = ({ url }: GatewayProcess): void => {
    for (let stream = 0; stream < streams; stream += 1) {
      runs.push(openRun(url, { path: "/agents/support?session=s1" }));
    }
  };
  gateways.forEach(hammer);
  return {
    store,
    gateways,
    restart: async (place) => {
      await (gateways[place] as GatewayProcess).kill();
      const again = await startIn(scene, directories[place] as string);
      gateways[place] = again;
      hammer(again);
    },
    goesOn: async (what, more) => {
      const before = notes();
      await until(what, () => notes() > before + more, 60_000);
    },
    end: async () => {
      for (const run of runs) run.abort();
      for (const gateway of gateways) await gateway.stop();
      const log = await checkLog(directories[0] as string);
      expect(unreceipted(log, runs)).toEqual([]);
      const decided = log.entries.filter(({ receipt }) =>
        JSON.stringify(receipt["event_type"]).includes("note"),
      );
      const allowed = decided.filter(({ receipt }) => receipt.allowed);
      // An id is given when what was read together has been judged, a moment behind the decision.
      const most = mostWithin(allowed.map(decidedAt), windowSeconds * 1000 - 250);
      return { decided: decided.length, allowed: allowed.length, most };
    },
  };
}
