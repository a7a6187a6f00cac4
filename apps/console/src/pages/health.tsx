import type { ReactNode } from "react";
import type { Agents, Policy, Status } from "../api/responses.js";
import { fetchText } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { ageOf } from "../components/format-time.js";
import { StateBadge } from "../components/badge.js";
import { Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { PolicyIssues } from "./policy-issues.js";

type State = "ok" | "attention" | "failing" | "unknown";
type Line = {
  readonly name: string;
  readonly href?: string;
  readonly state: State;
  readonly says: ReactNode;
};

/** The state of each part that a gateway needs, with the reason. */
export function Health({ status }: { readonly status: Status | undefined }): ReactNode {
  const checkpoint = useResource<string>("/v1/checkpoint", 10_000, fetchText);
  const metrics = useResource<string>("/metrics", 10_000, fetchText);
  const agents = useResource<Agents>("/v1/agents", 10_000);
  return (
    <section className="card" aria-labelledby="health">
      <h2 id="health">Health</h2>
      {status === undefined ? (
        <Loading what="the state of the gateway" />
      ) : (
        <dl className="health">
          {[
            gatewayLine(status),
            policyLine(status),
            logLine(status, checkpoint.data, metrics.data),
            storeLine(status, metrics.data),
            ...witnessLine(status),
            ...timestampLine(status),
            ...evidenceLine(status),
            agentsLine(agents.data, agents.problem !== undefined),
            keysLine(metrics.data),
          ].map(({ name, href, state, says }) => (
            <div key={name}>
              <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
              <dd>
                <StateBadge name={state} /> <span>{says}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {status?.policy.stale === true ? <StalePolicy /> : null}
    </section>
  );
}

/** The sum of a metric over its labels; `undefined` if the gateway does not report it. */
export function metricOf(text: string | undefined, name: string): number | undefined {
  const lines = text?.match(new RegExp(`^${name}(?:\\{[^\\n]*\\})? [0-9.e+]+$`, "gmu"));
  return lines?.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

function gatewayLine({ ready, draining, store, version, uptime_seconds, counts }: Status): Line {
  const name = "Gateway";
  if (draining) {
    return { name, state: "attention", says: "It is shutting down and ends open runs." };
  }
  if (!ready) {
    const says =
      store.entries === undefined
        ? "The receipt store does not respond, so the gateway forwards nothing."
        : "The gateway cannot write receipts or threads; see /readyz.";
    return { name, state: "failing", says };
  }
  const says = `version ${version}, up ${ageOf(uptime_seconds * 1000)}, ${plural(counts.runs_open, "open run")}, ${plural(counts.refusals, "request")} rejected`;
  return { name, state: "ok", says };
}

function policyLine({ policy }: Status): Line {
  const name = policy.name ?? "unnamed";
  return {
    name: "Policy",
    href: "#/policy",
    state: policy.stale ? "failing" : policy.mode === "observe" ? "attention" : "ok",
    says: (
      <>
        <Text value={name} /> <code>{policy.hash.slice(0, 12)}…</code>{" "}
        {policy.mode === "observe" ? "observes: it blocks nothing" : "enforces"}
      </>
    ),
  };
}

function logLine(
  { store }: Status,
  checkpoint: string | undefined,
  metrics: string | undefined,
): Line {
  const damages = metricOf(metrics, "countersign_store_damages_total") ?? 0;
  const failures = metricOf(metrics, "countersign_checkpoint_failures_total") ?? 0;
  const size = checkpoint?.split("\n")[1];
  const says =
    damages > 0
      ? `${plural(damages, "place")} of the log are not what was signed. Verify the log: countersign receipts verify`
      : `${store.entries?.toLocaleString() ?? "unknown"} entries${size === undefined ? "" : `, checkpoint at ${Number(size).toLocaleString()}`}${failures > 0 ? `, ${plural(failures, "checkpoint")} could not be signed` : ""}`;
  const state = damages > 0 ? "failing" : failures > 0 ? "attention" : "ok";
  return { name: "Log", href: "#/receipts", state, says };
}

function storeLine({ store }: Status, metrics: string | undefined): Line {
  const failures = metricOf(metrics, "countersign_store_append_failures_total") ?? 0;
  const lag = metricOf(metrics, "countersign_store_index_lag_entries") ?? 0;
  if (store.entries === undefined) {
    return { name: "Store", state: "failing", says: `${store.kind} does not respond` };
  }
  return {
    name: "Store",
    state: failures > 0 || lag > 10_000 ? "attention" : "ok",
    says: `${store.kind}, ${plural(store.pending, "append")} under way${failures > 0 ? `, ${plural(failures, "append")} failed since the start` : ""}${lag > 0 ? `, the index is ${plural(lag, "entry", "entries")} behind` : ""}`,
  };
}

/** No line where the log has no witnesses. */
function witnessLine({ log: { witnesses }, store }: Status): Line[] {
  if (witnesses === undefined) return [];
  const { newest, list, late, unwitnessed_ms: waiting, threshold } = witnesses;
  const against = list.filter(({ contradicts }) => contradicts !== undefined);
  const failing = list.filter((one) => one.failing !== undefined);
  const covered =
    newest === undefined
      ? "no checkpoint cosigned yet"
      : `${newest.names.length} of ${list.length} cosigned ${newest.size.toLocaleString()} of ${store.entries?.toLocaleString() ?? "unknown"} entries ${ageOf(Math.max(0, Date.now() - newest.cosigned_at))} ago, ${threshold} needed`;
  const notes = [
    ...against.map(({ name }) => `${name} says that this log was rolled back or replaced`),
    ...failing.map((one) => `${one.name}: ${one.failing ?? ""}`),
    ...(late ? [`entries have waited ${ageOf(waiting)}`] : []),
  ];
  const state =
    against.length > 0 || late
      ? "failing"
      : failing.length > 0 || newest?.enough !== true
        ? "attention"
        : "ok";
  return [
    { name: "Witnesses", state, says: <Text value={[covered, ...notes].join("; ")} isWrapped /> },
  ];
}

/** No line where the log has no timestamp authority. */
function timestampLine({ log: { timestamps } }: Status): Line[] {
  if (timestamps === undefined) return [];
  const { size, dated_at: at, failing } = timestamps;
  const dated =
    size === undefined || at === undefined
      ? "no checkpoint dated yet"
      : `${plural(size, "entry", "entries")} dated ${ageOf(Math.max(0, Date.now() - at))} ago`;
  const says = failing === undefined ? dated : `${dated}; ${failing}`;
  const state = failing === undefined && size !== undefined ? "ok" : "attention";
  return [{ name: "Timestamps", state, says: <Text value={says} isWrapped /> }];
}

/** No line where no payloads are kept. */
function evidenceLine({ evidence }: Status): Line[] {
  if (evidence === undefined) return [];
  const { events, keep_ms: keepMs, failing, dropped, failed, records, bytes } = evidence;
  const lost = dropped + failed;
  const held = `${plural(records ?? 0, "payload")}, ${Math.ceil((bytes ?? 0) / 1_048_576)} MiB of ${Math.ceil(evidence.max_bytes / 1_048_576)} MiB`;
  const says = `${events === "all" ? "all payloads" : "blocked payloads"} for ${ageOf(keepMs)}: ${
    records === undefined ? "the store does not respond" : held
  }${lost > 0 ? `, ${plural(lost, "payload")} lost since the start` : ""}`;
  const state = failing || records === undefined ? "failing" : lost > 0 ? "attention" : "ok";
  return [{ name: "Evidence", state, says }];
}

function agentsLine(data: Agents | undefined, isMissing: boolean): Line {
  const name = "Agents";
  const href = "#/agents";
  if (data === undefined) {
    return { name, href, state: "unknown", says: isMissing ? "not reported" : "loading" };
  }
  const failing = data.items.filter(
    ({ health, contained }) => health === "failing" || contained !== undefined,
  );
  return {
    name,
    href,
    state: failing.length > 0 ? "failing" : "ok",
    says:
      failing.length === 0 ? (
        `${plural(data.items.length, "agent")}, none failing`
      ) : (
        <>
          failing or stopped:{" "}
          <Text value={failing.map((agent) => agent.name).join(", ")} isWrapped />
        </>
      ),
  };
}

function keysLine(metrics: string | undefined): Line {
  const revocations = metricOf(metrics, "countersign_revocations_stale") ?? 0;
  const keySets = metricOf(metrics, "countersign_key_set_stale") ?? 0;
  const says =
    keySets > 0
      ? `${plural(keySets, "key set")} could not be fetched again`
      : revocations > 0
        ? "The list of revoked tokens could not be read again"
        : "signing keys loaded; key sets and revocations are current";
  return { name: "Keys", state: keySets + revocations > 0 ? "attention" : "ok", says };
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

function StalePolicy(): ReactNode {
  const { data } = useResource<Policy>("/v1/policy", 5000);
  return (
    <section className="notice bad" aria-label="The policy">
      <strong>The newest policy file cannot be loaded; the last valid policy stays active.</strong>
      {data === undefined ? null : <PolicyIssues issues={data.issues} />}
    </section>
  );
}
