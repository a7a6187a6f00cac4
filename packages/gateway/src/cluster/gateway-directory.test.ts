import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { createAddressSeal, GatewayDirectory } from "./gateway-directory.js";
import { tagOf } from "./stream-names.js";

const seal = createAddressSeal(new Uint8Array(32).fill(3));
const ADDRESS = { host: "10.0.0.7", port: 8082 };

test("only an address that a gateway sealed for its own name is accepted", async () => {
  const foreign = createAddressSeal(new Uint8Array(32).fill(4)).seal("c-3", ADDRESS);
  const rows: { id: string; facts: JsonObject }[] = [
    { id: "a-1", facts: { relay: seal.seal("a-1", ADDRESS) } },
    // Moved from another row; sealed with another key; not sealed; missing.
    { id: "b-2", facts: { relay: seal.seal("a-1", ADDRESS) } },
    { id: "c-3", facts: { relay: foreign } },
    { id: "d-4", facts: { relay: "10.0.0.7:8082" } },
    { id: "e-5", facts: { relay: { ...ADDRESS } } },
    { id: "f-6", facts: {} },
  ];
  const directory = new GatewayDirectory(async () => rows, seal);
  expect(await directory.find(tagOf("a-1"))).toMatchObject({ id: "a-1", address: ADDRESS });
  for (const { id } of rows.slice(1)) {
    expect(await directory.find(tagOf(id)), id).toBeUndefined();
  }
});

test("many lookups at once cost one query, and a known gateway costs none", async () => {
  let questions = 0;
  const directory = new GatewayDirectory(async () => {
    questions += 1;
    await new Promise((resolve) => setTimeout(resolve, 10));
    return [{ id: "a-1", facts: { relay: seal.seal("a-1", ADDRESS) } }];
  }, seal);
  const tag = tagOf("a-1");
  const found = await Promise.all(Array.from({ length: 100 }, () => directory.find(tag)));
  expect(found.every((one) => one?.id === "a-1")).toBe(true);
  await directory.find(tag);
  expect(questions).toBe(1);
  // An unknown gateway may have started since the last query.
  expect(await directory.find(tagOf("b-2"))).toBeUndefined();
  expect(questions).toBe(2);
});

test("a gateway that is no longer listed is remembered as unlisted, and each lookup queries again", async () => {
  let members = [{ id: "a-1", facts: { relay: seal.seal("a-1", ADDRESS) } }];
  let questions = 0;
  const directory = new GatewayDirectory(async () => {
    questions += 1;
    return members;
  }, seal);
  const tag = tagOf("a-1");
  expect(await directory.find(tag)).toMatchObject({ isListed: true });
  const listed = members;
  members = [];
  // An unknown tag causes a new query.
  await directory.find(tagOf("b-2"));
  expect(await directory.find(tag)).toMatchObject({ address: ADDRESS, isListed: false });
  members = listed;
  expect(await directory.find(tag)).toMatchObject({ isListed: true });
  expect(questions).toBe(4);
});

test("while the database is down a known gateway keeps its address, and the lookup of an unknown one fails", async () => {
  let isAway = false;
  const directory = new GatewayDirectory(async () => {
    if (isAway) throw new Error("away");
    return [{ id: "a-1", facts: { relay: seal.seal("a-1", ADDRESS) } }];
  }, seal);
  await directory.find(tagOf("a-1"));
  isAway = true;
  await expect(directory.find(tagOf("b-2"))).rejects.toThrow("away");
  expect(await directory.find(tagOf("a-1"))).toMatchObject({ id: "a-1" });
});
