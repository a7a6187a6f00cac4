import { createSigner, importPrivateKey } from "@countersign/core/sign";
import { openLog } from "../log/open-log.js";
import { createLogSeal } from "../log/seal.js";
import { openPostgresStore } from "../postgres/open-postgres-store.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { draftOf } from "./drafts.js";

// A process that appends until it is killed or has appended `count`, and prints the number of each
// acknowledged entry: every printed number must be in the log afterwards.
const [kind, place = "", start = "0", count = "0"] = process.argv.slice(2);
const store =
  kind === "sqlite"
    ? await openSqliteStore({ directory: place, segmentBytes: 400_000 })
    : await openPostgresStore({ url: place, log: "shared" });
const log = await openLog({
  store,
  signer: await createInThreadSigner(importPrivateKey(new Uint8Array(32).fill(7))),
  checkpointSigner: createSigner(importPrivateKey(new Uint8Array(32).fill(8))),
  origin: "killed.example/log",
  seal: createLogSeal(new Uint8Array(32).fill(9), "killed.example/log"),
  checkpointInterval: 20,
  groupSize: 16,
});
const end = count === "0" ? Number.POSITIVE_INFINITY : Number(start) + Number(count);
let number = Number(start);
const stream = async (): Promise<void> => {
  while (number < end) {
    const mine = number++;
    const { seq } = await log.append(draftOf(mine));
    process.stdout.write(`${seq} ${mine}\n`);
  }
};
await Promise.all(Array.from({ length: 40 }, stream));
await log.close();
