import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { followRevocations, openSharedRevocations, PAGE } from "./shared-revocations.js";
import type { SharedRevocations } from "./shared-revocations.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const open = (name: string): Promise<SharedRevocations> =>
  openSharedRevocations({ url: server.url, name });
const revocation = (id: string, at = 1) => ({ capability_id: id, revoked_at: at });
const idsAfter = async (store: SharedRevocations, serial = 0): Promise<string[]> =>
  (await store.readAfter(serial)).map(({ revocation: { capability_id: id } }) => id);

test("a gateway reads what another one revokes, for its own log only, and the first time stays", async () => {
  const [one, other, stranger] = await Promise.all([open("log"), open("log"), open("elsewhere")]);
  const both = await one.revoke([revocation("cap %00 ü", 5), revocation("cap-2", 6)]);
  expect(both).toEqual(["cap %00 ü", "cap-2"]);
  expect(await other.revoke([revocation("cap-2", 99)])).toEqual([]);
  const rows = await other.readAfter(0);
  expect(rows.map(({ revocation: row }) => row)).toEqual([
    revocation("cap %00 ü", 5),
    revocation("cap-2", 6),
  ]);
  expect(await other.readAfter(rows.at(-1)?.serial ?? 0)).toEqual([]);
  expect(await idsAfter(stranger)).toEqual([]);
  await Promise.all([one.close(), other.close(), stranger.close()]);
});

test("a row of its own log is removed when its token has expired, if the expiry is known", async () => {
  const [one, stranger] = await Promise.all([open("ends"), open("other ends")]);
  await one.revoke([revocation("known"), revocation("later"), revocation("unknown")]);
  await stranger.revoke([revocation("known")]);
  await one.expire("known", 100);
  // The first expiry stays: the issuing gateway is the only one that knows it.
  await one.expire("known", 5);
  await one.expire("later", 200);
  await one.expire("nobody", 5);
  await one.forget(100);
  expect(await idsAfter(one)).toEqual(["known", "later", "unknown"]);
  await one.forget(101);
  expect(await idsAfter(one)).toEqual(["later", "unknown"]);
  expect(await idsAfter(stranger)).toEqual(["known"]);
  await Promise.all([one.close(), stranger.close()]);
});

test("a reader that polls for new revocations misses none that are made at the same time", async () => {
  const [one, other] = await Promise.all([open("race"), open("race")]);
  const heard: string[] = [];
  let last = 0;
  let isOver = false;
  const reading = (async () => {
    for (;;) {
      const wasOver = isOver;
      for (const row of await other.readAfter(last)) {
        heard.push(row.revocation.capability_id);
        last = row.serial;
      }
      if (wasOver) return;
    }
  })();
  const ids = Array.from({ length: 60 }, (_, index) => `cap-${index}`);
  await Promise.all(
    ids.map((id, index) => (index % 2 === 0 ? one : other).revoke([revocation(id)])),
  );
  isOver = true;
  await reading;
  expect(heard.toSorted()).toEqual(ids.toSorted());
  await Promise.all([one.close(), other.close()]);
});

test("one read is bounded: at the limit, and one above", async () => {
  const store = await open("many");
  const ids = Array.from({ length: PAGE }, (_, index) => revocation(`cap-${index}`));
  await store.revoke(ids);
  expect(await idsAfter(store)).toHaveLength(PAGE);
  await store.revoke([revocation("one more")]);
  const first = await store.readAfter(0);
  expect(first).toHaveLength(PAGE);
  expect(await idsAfter(store, first.at(-1)?.serial)).toEqual(["one more"]);
  await store.close();
});

test("a database that stops responding is noticed, known revocations stay, and following resumes by itself", async () => {
  const frozen = { is: false };
  const port = Number(new URL(server.url).port);
  const proxy = createServer((client) => {
    const through = connect(port, "127.0.0.1");
    client.on("data", (chunk) => frozen.is || through.write(chunk));
    through.on("data", (chunk) => frozen.is || client.write(chunk));
    for (const [socket, peer] of [
      [client, through],
      [through, client],
    ] as const) {
      socket.on("error", () => peer.destroy());
      socket.on("close", () => peer.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = server.url.replace(String(port), String((proxy.address() as AddressInfo).port));
  const [direct, store] = await Promise.all([
    open("frozen"),
    openSharedRevocations({ url, name: "frozen", answerMs: 200 }),
  ]);
  const heard = new Set<string>();
  const followed = await followRevocations(
    store,
    { onRevoked: ({ capability_id: id }) => void heard.add(id), onStale: () => {} },
    { everyMs: 10 },
  );
  await direct.revoke([revocation("before")]);
  await vi.waitFor(() => expect(heard).toContain("before"), 5000);
  frozen.is = true;
  await vi.waitFor(() => expect(followed.isStale).toBe(true), 5000);
  await expect(store.revoke([revocation("lost")])).rejects.toMatchObject({
    code: "ERR_REVOCATIONS_UNAVAILABLE",
  });
  await direct.revoke([revocation("meanwhile")]);
  expect([...heard]).toEqual(["before"]);
  frozen.is = false;
  await vi.waitFor(() => expect(heard).toContain("meanwhile"), 5000);
  await vi.waitFor(() => expect(followed.isStale).toBe(false), 5000);
  await followed.stop();
  await Promise.all([direct.close(), store.close()]);
  await new Promise((resolve) => proxy.close(resolve));
}, 30_000);

test("an unreachable database is reported with a code and without its address", async () => {
  const url = "postgres://somebody:secret@127.0.0.1:1/nowhere";
  const failure = openSharedRevocations({ url, name: "log" });
  await expect(failure).rejects.toMatchObject({ code: "ERR_REVOCATIONS_UNAVAILABLE" });
  await expect(failure).rejects.not.toThrow(/secret|127/);
});
