import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { endWithReader } from "./reader.js";

const BIN = new URL("../../bin/countersign.js", import.meta.url).pathname;
const isBuilt = existsSync(new URL("../../dist/output/reader.js", import.meta.url));

function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function watch(staysWithout?: boolean) {
  const stream = new PassThrough();
  const seen: (number | string)[] = [];
  const ending = {
    report: (error: Error) => {
      seen.push(error.message);
      return 2;
    },
    exit: (code: number) => void seen.push(code),
  };
  endWithReader([stream], ending, staysWithout);
  return { stream, seen };
}

test("a reader that goes away ends a command without a word, with the code it had", () => {
  const { stream, seen } = watch();
  stream.emit("error", broken("EPIPE"));
  expect(seen).toEqual([Number(process.exitCode ?? 0)]);
});

test("output that cannot be written for another cause is told, and fails", () => {
  const { stream, seen } = watch();
  stream.emit("error", broken("ENOSPC"));
  expect(seen).toEqual(["ENOSPC", 2]);
});

test("a gateway keeps running without a reader of its output", () => {
  const { stream, seen } = watch(true);
  stream.emit("error", broken("EPIPE"));
  expect(seen).toEqual([]);
});

test.runIf(isBuilt)("a real command whose reader is gone prints no stack", async () => {
  const child = spawn(process.execPath, [BIN, "config", "schema"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let told = "";
  child.stderr.on("data", (part: Buffer) => (told += String(part)));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, told]).toEqual([0, ""]);
});
