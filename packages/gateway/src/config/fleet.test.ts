import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const load = (text: string, environment: Record<string, string> = {}) =>
  loadConfig(`agents:\n  a:\n    url: http://h/\n${text}`, { file: "c.yaml", environment });
const STORE = 'receipts: { store: "postgres://u@db/r" }\n';

test("without an address other gateways cannot request streams", () => {
  expect(load(STORE).fleet).toBeUndefined();
});

test("an address may come from the environment, and is bound itself unless another is given", () => {
  expect(load(`${STORE}fleet: { address: "\${POD_IP}" }\n`, { POD_IP: "10.0.0.7" }).fleet).toEqual({
    address: "10.0.0.7",
    host: "10.0.0.7",
    port: 8082,
  });
  expect(load(`${STORE}fleet: { address: "[fd00::7]" }\n`).fleet?.address).toBe("fd00::7");
  const named = "fleet: { address: gateway-1.internal, host: 0.0.0.0, port: 9000 }\n";
  expect(load(STORE + named).fleet).toEqual({
    address: "gateway-1.internal",
    host: "0.0.0.0",
    port: 9000,
  });
});

test.each(["http://gateway-1/", "10.0.0.7:8082", "user@host", "''", '" "'])(
  "%s is refused as the address of a gateway, with its position",
  (address) => {
    expect(() => load(`${STORE}fleet: { address: ${address} }\n`)).toThrow(/c\.yaml:5:\d+/u);
  },
);

test("an embedded store has one gateway: an address for others is refused with its position", () => {
  expect(() => load("fleet: { address: 10.0.0.7 }\n")).toThrow(
    /c\.yaml:4:\d+.*fleet needs a receipts\.store in PostgreSQL/u,
  );
});
