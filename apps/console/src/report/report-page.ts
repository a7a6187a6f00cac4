// The script of a report: one file that verifies its own entries, without a network. Everything is written as text.
import { verifyProof } from "@countersign/receipts/verify";
import type { Verification } from "@countersign/receipts/verify";
import type { JsonValue } from "@countersign/core";
import { visibleText } from "../components/visible-text.js";
import { DATA_ID } from "./report-data.js";
import type { ReportData } from "./report-data.js";

type Row = {
  readonly seq?: number;
  readonly received_at?: number;
  readonly principal?: string;
  readonly tool?: string;
  readonly rule?: string;
  readonly direction?: string;
  readonly receipt?: {
    readonly allowed?: boolean;
    readonly event_type?: unknown;
    readonly classification?: string;
    readonly denial_reason?: string;
  };
};

function element(name: string, text = "", kind = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text.split("\n").map(visibleText).join("\n");
  made.className = kind;
  return made;
}

function rowOf(text: string): Row {
  try {
    return (JSON.parse(text) as Row | null) ?? {};
  } catch {
    return {};
  }
}

async function verify(
  { text, proof, payload }: ReportData["entries"][number],
  trust: { readonly trustedLogs: readonly string[] } | { readonly presentedKey: string },
): Promise<Verification | undefined> {
  try {
    return await verifyProof(proof, new TextEncoder().encode(text), {
      ...trust,
      ...(payload === undefined ? {} : { event: payload as JsonValue }),
    });
  } catch {
    return undefined;
  }
}

function verdictOf({ receipt, rule }: Row): string {
  if (receipt?.allowed !== true) return "blocked";
  return rule === undefined ? "allowed" : "would block";
}

async function show(data: ReportData, list: HTMLElement, summary: HTMLElement): Promise<void> {
  const key = document.querySelector<HTMLInputElement>("#log-key")?.value.trim() ?? "";
  const trust = key === "" ? { presentedKey: data.log_key } : { trustedLogs: [key] };
  list.replaceChildren();
  let failed = 0;
  for (const entry of data.entries) {
    const row = rowOf(entry.text);
    const verification = await verify(entry, trust);
    const checks = verification?.checks.filter(({ status }) => status !== "skipped") ?? [];
    const isSound = checks.length > 0 && checks.every(({ status }) => status === "held");
    if (!isSound) failed += 1;
    const item = document.createElement("details");
    item.className = isSound ? "held" : "failed";
    const head = document.createElement("summary");
    const type = row.receipt?.event_type;
    head.append(
      element("span", isSound ? "✓ verified" : "✕ not verified", "sign"),
      element("code", String(row.seq ?? "?")),
      element("time", new Date(row.received_at ?? 0).toISOString()),
      element("strong", verdictOf(row), verdictOf(row).replace(" ", "_")),
      element(
        "span",
        [row.tool ?? (typeof type === "string" ? type : JSON.stringify(type)), row.rule]
          .filter((part) => part !== undefined)
          .join(" · "),
      ),
    );
    item.append(head);
    for (const { title, status } of checks) {
      item.append(element("p", `${status === "held" ? "✓" : "✕"} ${title}`, status));
    }
    if (verification === undefined) {
      item.append(element("p", "This browser cannot verify Ed25519. Use a current one.", "failed"));
    }
    if (entry.payload !== undefined) {
      item.append(element("pre", JSON.stringify(entry.payload, undefined, 2)));
    }
    item.append(element("pre", entry.text), element("pre", entry.proof));
    list.append(item);
  }
  summary.textContent =
    failed === 0
      ? `All ${data.entries.length} entries are signed, unchanged, and in the log of ${key === "" ? "the key below, which the gateway presented" : "the key that you entered"}.`
      : `${failed} of ${data.entries.length} entries are not verified.`;
  summary.className = failed === 0 ? "held" : "failed";
}

const source = document.querySelector(`#${DATA_ID}`)?.textContent ?? "";
const data = JSON.parse(source) as ReportData;
const summary = document.querySelector<HTMLElement>("#summary");
const list = document.querySelector<HTMLElement>("#entries");
const facts = document.querySelector<HTMLElement>("#facts");
if (summary !== null && list !== null && facts !== null) {
  facts.append(
    element("p", `Run ${data.run} of session ${data.session}, principal ${data.principal}.`),
    element("p", `${data.entries.length} of ${data.total} entries, written ${data.created_at}.`),
    element("p", `Log key that the gateway presented: ${data.log_key}`),
  );
  void show(data, list, summary);
  document
    .querySelector("#log-key")
    ?.addEventListener("change", () => void show(data, list, summary));
}
