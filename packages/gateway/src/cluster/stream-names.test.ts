import { expect, test } from "vitest";
import { createStreamNames, tagOf } from "./stream-names.js";

const KEY = new Uint8Array(32).fill(7);

test("gateways with one key can tell which gateway has a stream, and the name contains no host name", () => {
  const [one, other] = ["host-a-1", "host-b-2"].map((gateway) => createStreamNames(KEY, gateway));
  const name = one?.create() ?? "";
  expect(name).toMatch(/^[\w-]{32}$/u);
  expect(other?.gatewayOf(name)).toBe(tagOf("host-a-1"));
  expect(tagOf("host-a-1")).not.toBe(tagOf("host-b-2"));
  expect(new Set(Array.from({ length: 1000 }, () => one?.create())).size).toBe(1000);
});

test("a name that is forged, altered or made with another key belongs to no gateway", () => {
  const names = createStreamNames(KEY, "host-a-1");
  const name = names.create();
  for (let at = 0; at < name.length; at += 1) {
    const letter = name[at] === "A" ? "B" : "A";
    expect(names.gatewayOf(name.slice(0, at) + letter + name.slice(at + 1))).toBeUndefined();
  }
  const foreign = createStreamNames(new Uint8Array(32).fill(8), "host-a-1").create();
  for (const other of [foreign, "", name.slice(1), `${name}A`, `${name.slice(1)}=`]) {
    expect(names.gatewayOf(other)).toBeUndefined();
  }
});
