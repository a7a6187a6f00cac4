import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { openLog } from "@countersign/receipts/log";
import type { EntryDraft } from "@countersign/receipts/log";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";

const EVENTS_OF_A_RUN = 60;
const TOGETHER = 128;

/** Events as agents stream them: a run of 60 events, most of them deltas of one message or call. */
function streamed(number: number, draft: EntryDraft): EntryDraft {
  const run = Math.floor(number / EVENTS_OF_A_RUN);
  const place = number % EVENTS_OF_A_RUN;
  const { target: _target, ...receipt } = draft.receipt;
  const part =
    place < 2 || place > 57
      ? { event_type: "lifecycle" as const }
      : place < 45
        ? {
            event_type: "text_stream" as const,
            target: { component_type: "chat", component_id: `message_${run}` },
          }
        : {
            event_type: "form_action" as const,
            target: { component_type: "form", component_id: `call_${run}` },
          };
  return {
    ...draft,
    run_id: `run_${run}`,
    thread_id: `thread_${Math.floor(run / 3)}`,
    receipt: { ...receipt, session_id: `sess_${Math.floor(run / 3)}`, ...part },
  } as EntryDraft;
}

/**
 * Microseconds of processor time of the index per entry, rebuilt over a finished log; the best of
 * several.
 */
export async function measureIndexing(
  directory: string,
  count: number,
  draftOf: (number: number) => EntryDraft,
  rounds: number,
): Promise<number> {
  const place = join(directory, "indexing");
  const log = await openLog({
    store: await openSqliteStore({ directory: place }),
    signer: await createSigningPool(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "bench.example/indexing",
    sign: "batch",
  });
  let next = 0;
  while (next < count) {
    await log.appendAll(
      Array.from({ length: TOGETHER }, () => {
        const number = next++;
        return streamed(number, draftOf(number));
      }),
    );
  }
  await log.close();
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const suffix of ["", "-wal", "-shm"]) {
      await rm(join(place, `index.sqlite${suffix}`), { force: true });
    }
    const store = await openSqliteStore({ directory: place });
    // The event loop waits meanwhile: the process time is the time of the index.
    const before = process.cpuUsage();
    await store.count({});
    const used = process.cpuUsage(before);
    costs.push((used.user + used.system) / next);
    await store.close();
  }
  return Math.min(...costs);
}
