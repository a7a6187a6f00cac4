import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

let database: RunningPostgres;
const open: Served[] = [];
beforeAll(async () => {
  database = await startPostgres();
}, 60_000);
afterEach(async () => {
  for (const served of open.splice(0)) await served.stop();
}, 30_000);
afterAll(() => database.stop(), 30_000);

async function start(beside?: Served): Promise<Served> {
  const served = await startServed(HELD_AGENT, {
    config: `receipts: { store: "${database.url}", origin: "ids.example/log" }\n`,
    ...(beside === undefined ? {} : { beside }),
  });
  open.push(served);
  return served;
}

function connect({ running }: Served): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${running.dataUrl.replace("http", "ws")}/ws?session=s1`);
    socket.on("open", () => resolve(socket));
    socket.on("error", reject);
  });
}

test("a message under one id at two gateways in one second makes two different receipts", async () => {
  const first = await start();
  const second = await start(first);
  const sockets = [await connect(first), await connect(second)];
  // At the beginning of a second.
  await new Promise((resolve) => setTimeout(resolve, 1020 - (Date.now() % 1000)));
  const message = {
    event_id: "dup-1",
    event_type: "form_action",
    classification: "display",
    payload: { n: 1 },
  };
  for (const socket of sockets) socket.send(JSON.stringify(message));
  const { store } = first.running.receipts;
  await expect.poll(async () => (await store.head()).size, { timeout: 10_000 }).toBe(2);
  for (const socket of sockets) socket.terminate();
  const { entries } = await store.query({}, {});
  const ids = entries.map(({ receipt }) => receipt.event_id);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^dup-1~[0-9a-f]{8}$/u);
}, 60_000);
