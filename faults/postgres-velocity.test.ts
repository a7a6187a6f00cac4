import { expect, test } from "vitest";
import type { GatewayProcess } from "./harness/gateway.js";
import { hammerSession } from "./harness/hammered-session.js";
import { pause, report, scaled } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const GATEWAYS = 3;
const CAP = 30;
const WINDOW_SECONDS = 3;
const ROUNDS = scaled(1, 6);

test(`one session that is hammered through ${GATEWAYS} processes has one window, also while one of them is killed and starts again and the database falls silent for a moment`, async () => {
  const hammered = await hammerSession(scene, {
    gateways: GATEWAYS,
    streams: 2,
    cap: CAP,
    windowSeconds: WINDOW_SECONDS,
  });
  const { store, gateways } = hammered;
  for (let round = 0; round < ROUNDS; round += 1) {
    const place = round % GATEWAYS;
    // A window has passed, or more came than fit into one.
    await hammered.goesOn("the next window is under way", CAP + CAP / 2);
    await hammered.restart(place);
    await hammered.goesOn("events come again", CAP);
    await store.freeze();
    await pause(700);
    await store.thaw();
    await hammered.goesOn("events come as before", CAP / 2);
    if (round % 2 === 0) continue;
    // One that froze with room at hand has none when it wakes up: others have used it by then.
    const frozen = gateways[(place + 1) % GATEWAYS] as GatewayProcess;
    frozen.child.kill("SIGSTOP");
    await pause(8000);
    frozen.child.kill("SIGCONT");
    await hammered.goesOn("events come as ever", CAP / 2);
  }
  const { decided, allowed, most } = await hammered.end();
  report(
    `of ${decided} events ${allowed} were allowed, at most ${most} in ${WINDOW_SECONDS} s (cap ${CAP})`,
  );
  expect(most).toBeLessThanOrEqual(CAP);
  expect(allowed).toBeGreaterThan(2 * CAP);
}, 600_000);
