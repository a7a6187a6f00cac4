import { sha256Hex } from "@countersign/core";
import { expect, test } from "vitest";
import type { LogEntry } from "../entry/entry.js";
import { importReceipt } from "../import/import-foreign.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import type { EntryColumn } from "../query/query.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver } from "./contract-log.js";
import { draftOf } from "./drafts.js";
import { foreignSample } from "./foreign-sample.js";

function valueOf(entry: LogEntry, column: EntryColumn): string | boolean | null {
  const { receipt } = entry;
  const type = receipt.event_type;
  const values: Record<EntryColumn, string | boolean | undefined> = {
    session_id: receipt.session_id,
    agent_id: receipt.agent_id,
    run_id: entry.run_id,
    thread_id: entry.thread_id,
    event_type: typeof type === "string" ? type : `custom:${type.custom}`,
    classification: receipt.classification,
    target_type: receipt.target?.component_type,
    target_id: receipt.target?.component_id,
    allowed: receipt.allowed,
    rule: entry.rule,
    capability_id: receipt.capability_id,
    direction: entry.direction,
    mode: entry.mode,
    transport: receipt.transport,
    principal: entry.principal,
    client_address: entry.client_address,
    tool: entry.tool,
    path: entry.path,
  };
  return values[column] ?? null;
}

/** The queries that every store must answer the same way. */
export function testQueries(open: (log: string) => Promise<ReceiptStore>): void {
  test("every filter finds exactly what a full scan finds, page by page", async () => {
    const store = await open("query");
    const log = await logOver(store);
    const all = ((await fill(log, 500)) as { entry: LogEntry }[]).map((one) => one.entry);
    const filters = [
      {},
      { session_id: "sess_2" },
      { agent_id: ["agent-1", "agent-3"] },
      { run_id: "run_7" },
      { event_type: "custom:clipboard" },
      { classification: "submit", target_type: "modal" },
      { target_id: "c4", allowed: false },
      { allowed: true, rule: "rules.ag_ui[2]" },
      { capability_id: "cap-1", transport: "sse", direction: "inbound", mode: "enforce" },
      { thread_id: "thread_1", since: 1_744_993_929_000, until: 1_744_993_931_000 },
      { id: `agui-${draftOf(77).receipt.event_id}` },
      { would_block: true },
      { would_block: false, classification: "submit" },
      { principal: "user-2", client_address: ["192.0.2.1", "192.0.2.4"] },
      { tool: "Send_1", allowed: false },
      { path: "/links/1" },
      { q: "SEND_" },
      { q: "links/", principal: "user-0" },
      { q: draftOf(123).receipt.event_id.slice(-4).toUpperCase() },
      { q: "%" },
      { q: "user-1", since: 1_744_993_929_000, until: 1_744_993_931_000 },
      { session_id: "never-seen" },
    ];
    for (const filter of filters) {
      const wanted = all.filter((entry) =>
        Object.entries(filter).every(([member, value]) => {
          if (member === "since") return entry.received_at >= Number(value);
          if (member === "until") return entry.received_at < Number(value);
          if (member === "id") return entry.receipt.id === value;
          if (member === "q") {
            const texts = [...ENTRY_COLUMNS.map((one) => valueOf(entry, one)), entry.receipt.id];
            const part = String(value).toLowerCase();
            return texts.some((one) => typeof one === "string" && one.toLowerCase().includes(part));
          }
          if (member === "would_block") {
            return value === (entry.receipt.allowed && entry.rule !== undefined);
          }
          const own = valueOf(entry, member as EntryColumn);
          return Array.isArray(value) ? value.includes(own as never) : own === value;
        }),
      );
      for (const order of ["oldest", "newest"] as const) {
        const found: LogEntry[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.query(filter, {
            order,
            limit: 33,
            ...(cursor === undefined ? {} : { cursor }),
          });
          expect(page.entries.length).toBeLessThanOrEqual(33);
          found.push(...page.entries);
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(found).toEqual(order === "oldest" ? wanted : wanted.toReversed());
      }
      const [total] = await store.count({ filter });
      expect(total?.count ?? 0).toBe(wanted.length);
    }
    await log.close();
  });

  test("counts by any columns and time buckets equal counting by hand", async () => {
    const store = await open("count");
    const log = await logOver(store);
    const all = ((await fill(log, 500)) as { entry: LogEntry }[]).map((one) => one.entry);
    const groupings: EntryColumn[][] = [
      ["classification"],
      ["allowed", "rule"],
      ["target_type", "target_id"],
      ["session_id", "agent_id", "capability_id"],
      ["principal", "client_address"],
      ["tool", "path"],
      [],
    ];
    for (const by of groupings) {
      const bucket = 1_000;
      const byHand = new Map<string, number>();
      for (const entry of all.filter((one) => one.receipt.classification !== "alert")) {
        const from = entry.received_at - (entry.received_at % bucket);
        const group = JSON.stringify([from, by.map((column) => valueOf(entry, column))]);
        byHand.set(group, (byHand.get(group) ?? 0) + 1);
      }
      const filter = { classification: ["display", "mutate", "submit"] };
      const rows = await store.count({ filter, by, bucket });
      const got = new Map(rows.map((row) => [JSON.stringify([row.from, row.group]), row.count]));
      expect(got).toEqual(byHand);
      expect(rows.map((row) => row.from)).toEqual(rows.map((row) => row.from).toSorted());
    }
    // How many submit events hit a modal in the last hour?
    const asked = { classification: "submit", target_type: "modal", since: 1_744_993_928_000 };
    const submits = all.filter(
      ({ receipt }) =>
        receipt.classification === "submit" && receipt.target?.component_type === "modal",
    );
    expect(await store.count({ filter: asked })).toEqual([{ count: submits.length, group: [] }]);
    await log.close();
  });

  test("invalid queries get a coded error and change nothing", async () => {
    const store = await open("invalid");
    const bad: (() => Promise<unknown>)[] = [
      () => store.query({ nonsense: "x" } as never),
      () => store.query({ session_id: 5 } as never),
      () => store.query({ allowed: "yes" } as never),
      () => store.query({ would_block: "yes" } as never),
      () => store.query({ q: "" }),
      () => store.query({ q: "x".repeat(201) }),
      () => store.query({ q: ["x"] } as never),
      () => store.query({ since: -1 }),
      () => store.query({}, { limit: 1_001 }),
      () => store.query({}, { limit: 0 }),
      () => store.query({}, { cursor: "o5" }),
      () => store.query({}, { cursor: "n5; DROP TABLE entries" }),
      () => store.query({ session_id: Array.from({ length: 101 }, String) }),
      () => store.count({ by: ["body" as never] }),
      () => store.count({ by: ["rule", "rule"] }),
      () => store.count({ bucket: 0 }),
      () => store.queryForeign({}),
      () => store.queryForeign({ session_id: "s", limit: 1_001 }),
    ];
    for (const ask of bad) {
      await expect(Promise.resolve().then(ask)).rejects.toMatchObject({
        code: "ERR_QUERY_INVALID",
      });
    }
    expect((await store.query({ session_id: "'; DROP TABLE entries; --" })).entries).toEqual([]);
    await store.close();
  });

  test("foreign receipts are kept once and found by session and agent", async () => {
    const store = await open("foreign");
    const samples = [
      foreignSample({ id: "mcp-2", session_id: "sess_1", agent_id: "agent-1", timestamp: 20 }),
      foreignSample({ id: "mcp-1", session_id: "sess_1", agent_id: "agent-2", timestamp: 10 }),
      foreignSample({ id: "mcp-3", session_id: "sess_2" }),
    ];
    const receipts = await Promise.all(samples.map((sample) => importReceipt(sample, "mcp")));
    expect(receipts[0]?.hash).toBe(
      sha256Hex(JSON.stringify(samples[0], Object.keys(samples[0] ?? {}).toSorted())),
    );
    expect(await store.importForeign(receipts)).toBe(3);
    expect(await store.importForeign(receipts.slice(1))).toBe(0);
    const session = await store.queryForeign({ session_id: "sess_1" });
    expect(session.map((one) => one.id)).toEqual(["mcp-1", "mcp-2"]);
    expect(session[1]).toEqual(receipts[0]);
    expect(await store.queryForeign({ agent_id: "agent-2", protocol: "mcp" })).toHaveLength(1);
    expect(await store.queryForeign({ agent_id: "agent-2", protocol: "a2a" })).toEqual([]);
    await store.close();
  });
}
