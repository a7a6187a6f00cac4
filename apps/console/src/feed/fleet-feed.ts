import { useEffect, useMemo, useState } from "react";
import type { Entries, Entry, FeedItem, Runs, Status } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { decisionOfEntry } from "../decisions/decision.js";
import { FeedStore } from "./feed-store.js";
import type { FeedView } from "./feed-store.js";

/** The newest entries of one request; a busy fleet has more in two seconds, which only the log lists. */
const PAGE = 500;
const EVERY_MS = 2000;
const NOTHING = new FeedStore().view();

/** The gateways of the log, this one first, and whether what is asked for is this one's. */
export function useGateways(wanted: string | undefined): {
  readonly gateways: readonly string[];
  readonly isOwn: boolean;
} {
  const { data } = useResource<Status>("/v1/status", 5000);
  const gateways = useMemo(() => data?.gateways.map(({ id }) => id) ?? [], [data]);
  return { gateways, isOwn: wanted === undefined || wanted === data?.gateway };
}

/**
 * Decisions of all gateways, or of one that is not asked here. Gateways on one database write one log, and this one can
 * read it: no gateway has to be reached from the browser. An entry does not say who wrote it, its run does.
 */
export function useFleetFeed(gateway: string | undefined): FeedView {
  const [view, setView] = useState<FeedView>(NOTHING);
  useEffect(() => {
    setView(NOTHING);
    if (gateway === undefined) return undefined;
    const store = new FeedStore();
    const leave = store.subscribe(() => setView(store.view()));
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden) await readNewest(store, gateway, gone.signal);
      if (!gone.signal.aborted) timer = setTimeout(look, EVERY_MS);
    };
    void look();
    return () => {
      gone.abort();
      clearTimeout(timer);
      leave();
    };
  }, [gateway]);
  return view;
}

async function readNewest(store: FeedStore, gateway: string, signal: AbortSignal): Promise<void> {
  try {
    const [{ entries }, runs] = await Promise.all([
      fetchJson<Entries>(`/v1/receipts?order=newest&limit=${PAGE}`, { signal }),
      gateway === "all" ? undefined : runsAt(gateway, signal),
    ]);
    const wanted = entries.filter(({ run_id: run }) => runs === undefined || runs.has(run ?? ""));
    store.push(wanted.toReversed().map(itemOf));
    store.setConnection("live");
  } catch {
    if (!signal.aborted) store.setConnection("lost");
  }
}

async function runsAt(gateway: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { runs } = await fetchJson<Runs>("/v1/runs?limit=500", { signal });
  return new Set(runs.filter((run) => run.gateway === gateway).map((run) => run.run_id));
}

/** An entry as the feed would have told it; of its event the log keeps the kind. */
function itemOf(entry: Entry): FeedItem {
  const { receipt, principal, client_address, tool, path } = entry;
  const { event_type: type } = decisionOfEntry(entry);
  return {
    seq: entry.seq,
    receipt_id: receipt.id,
    type,
    direction: entry.direction,
    agent_id: receipt.agent_id,
    session_id: receipt.session_id ?? "",
    thread_id: entry.thread_id ?? "",
    run_id: entry.run_id ?? "",
    event_type: type,
    classification: receipt.classification,
    ...(receipt.target === undefined ? {} : { target: receipt.target }),
    allowed: receipt.allowed,
    mode: entry.mode,
    ...(principal === undefined ? {} : { principal }),
    ...(client_address === undefined ? {} : { client_address }),
    ...(tool === undefined ? {} : { tool }),
    ...(path === undefined ? {} : { path }),
    ...(entry.rule === undefined ? {} : { rule: entry.rule }),
    ...(entry.further_rules === undefined ? {} : { further_rules: entry.further_rules }),
    ...(receipt.denial_reason === undefined ? {} : { denial_reason: receipt.denial_reason }),
    received_at: entry.received_at,
  };
}
