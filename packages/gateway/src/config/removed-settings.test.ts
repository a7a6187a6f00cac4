import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const load = (text: string) =>
  loadConfig(
    `agents:\n  a:\n    url: http://h/\nreceipts: { store: "postgres://u@db/r" }\n${text}`,
    { file: "c.yaml", environment: {} },
  );

test("a removed setting is refused at its position, with what to write instead", () => {
  expect(() => load("fleet: { address: 10.0.0.7 }\n")).toThrow(
    /c\.yaml:5:\d+.*fleet was removed.*Write cluster: \{ redis: "redis:\/\/HOST:6379" \}/u,
  );
  expect(() => load("limits: { relays: 10 }\n")).toThrow(
    /c\.yaml:5:\d+.*relays was removed.*followed_streams/u,
  );
  expect(load("limits: { followed_streams: 10 }\n").limits.followedStreams).toBe(10);
});
