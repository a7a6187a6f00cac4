import type { Revocation } from "@countersign/capability";
import { afterEach, expect, test, vi } from "vitest";
import { followRevocations, PAGE } from "./shared-revocations.js";
import type { Following } from "../store/follow.js";
import type { NumberedRevocation } from "./shared-revocations.js";

let followed: Following | undefined;
afterEach(async () => {
  await followed?.stop();
  followed = undefined;
});

/** A store that the test fills and breaks. */
function createStore(): {
  rows: NumberedRevocation[];
  isDown: boolean;
  looks: number;
  add(id: string): void;
  readAfter(serial: number): Promise<NumberedRevocation[]>;
} {
  const store = {
    rows: [] as NumberedRevocation[],
    isDown: false,
    looks: 0,
    add: (id: string) => {
      const serial = store.rows.length + 1;
      store.rows.push({ serial, revocation: { capability_id: id, revoked_at: serial } });
    },
    readAfter: async (after: number) => {
      store.looks += 1;
      if (store.isDown) throw new Error("gone");
      return store.rows.filter(({ serial }) => serial > after).slice(0, PAGE);
    },
  };
  return store;
}

async function follow(store: ReturnType<typeof createStore>) {
  const heard = new Set<string>();
  const told: boolean[] = [];
  const onRevoked = ({ capability_id: id }: Revocation): void => void heard.add(id);
  followed = await followRevocations(
    store,
    { onRevoked, onStale: (stale) => void told.push(stale) },
    { everyMs: 5 },
  );
  return { heard, told, followed };
}

test("earlier revocations are known at once, however many there are, and new ones arrive", async () => {
  const store = createStore();
  for (let count = 0; count < 2 * PAGE + 1; count++) store.add(`cap-${count}`);
  const { heard } = await follow(store);
  expect(heard.size).toBe(2 * PAGE + 1);
  store.add("new");
  await vi.waitFor(() => expect(heard).toContain("new"));
});

test("an outage of the database is reported once, known revocations stay, and following resumes by itself", async () => {
  const store = createStore();
  store.add("cap-1");
  const { heard, told, followed: state } = await follow(store);
  store.isDown = true;
  const then = store.looks;
  await vi.waitFor(() => expect(store.looks).toBeGreaterThan(then + 3));
  expect(told).toEqual([true]);
  expect(state.isStale).toBe(true);
  expect(heard).toContain("cap-1");
  store.add("cap-2");
  store.isDown = false;
  await vi.waitFor(() => expect(heard).toContain("cap-2"));
  await vi.waitFor(() => expect(told).toEqual([true, false]));
  expect(state.isStale).toBe(false);
});

test("a database restored with lower serials hides no new revocation", async () => {
  const store = createStore();
  for (const id of ["a", "b", "c"]) store.add(id);
  const { heard, told } = await follow(store);
  store.isDown = true;
  await vi.waitFor(() => expect(told).toEqual([true]));
  store.rows = [];
  store.add("after");
  store.isDown = false;
  await vi.waitFor(() => expect(heard).toContain("after"));
});

test("a failed first read fails the start", async () => {
  const store = createStore();
  store.isDown = true;
  await expect(follow(store)).rejects.toThrow("gone");
});
