import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";

/** What a test opens; all of it is closed after each test, last opened first. */
export type Scene = {
  /** Remembers how to undo something. */
  defer(undo: () => unknown): void;
  /** An empty directory that lasts as long as the test. */
  directory(): Promise<string>;
};

/** Makes the scene of one test file. */
export function createScene(): Scene {
  const undoing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const undo of undoing.splice(0).toReversed()) await undo();
  });
  return {
    defer: (undo) => void undoing.push(undo),
    directory: async () => {
      const path = await mkdtemp(join(tmpdir(), "countersign-faults-"));
      undoing.push(() => rm(path, { recursive: true, force: true }));
      return path;
    },
  };
}
