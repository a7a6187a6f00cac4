import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withDirectory } from "../testing/directory.js";
import { lockDirectory } from "./lock.js";

test("of many processes that find a dead process's lock at once, one takes it over", async () => {
  for (let round = 0; round < 20; round += 1) {
    await withDirectory(async (directory) => {
      const path = join(directory, "lock");
      const { pid } = spawnSync("true");
      await writeFile(path, `${pid} 1\n`);
      const all = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(path)));
      const taken = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(taken).toHaveLength(1);
      const refused = all.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
      expect(new Set(refused)).toEqual(new Set(["ERR_STORE_LOCKED"]));
      await taken[0]?.();
      await (
        await lockDirectory(path)
      )();
    });
  }
});

test("a writer in another process namespace, as in a container, keeps its lock", async () => {
  await withDirectory(async (directory) => {
    const path = join(directory, "lock");
    const unlock = await lockDirectory(path);
    // The pid belongs to another process here, which started at another time.
    await writeFile(path, "1 1\n");
    await expect(lockDirectory(path)).rejects.toMatchObject({
      code: "ERR_STORE_LOCKED",
      facts: { pid: 1 },
    });
    await unlock();
  });
});

test("a lock without its owner's pid, as a full disk leaves it, is taken over", async () => {
  await withDirectory(async (directory) => {
    const path = join(directory, "lock");
    await writeFile(path, "");
    const unlock = await lockDirectory(path);
    expect(await readFile(path, "utf8")).toMatch(new RegExp(`^${process.pid} `));
    await unlock();
  });
});
