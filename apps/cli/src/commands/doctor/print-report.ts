import { stripVTControlCharacters } from "node:util";
import { LAYER_NAMES } from "@countersign/inspect";
import type { DoctorReport, LayerStatus, Severity, StreamSummary } from "@countersign/inspect";
import pc from "picocolors";
import { printableText } from "@countersign/core";
import { COMMAND } from "../../output/command-name.js";
import { pageReference } from "../../output/pages.js";
import { formatTable } from "../../output/table.js";

const STATUS: Readonly<Record<LayerStatus["status"], string>> = {
  pass: pc.green("works"),
  warn: pc.yellow("works, with warnings"),
  fail: pc.red("fails"),
  skipped: pc.dim("skipped"),
};

const COLOURS: Readonly<Record<Severity, (text: string) => string>> = {
  error: pc.red,
  warning: pc.yellow,
  note: pc.cyan,
};

const SHOWN_PLACES = 3;

/** The report for people: the verdict, each layer with its findings, then times and bytes. */
export function formatReport(report: DoctorReport): string {
  const parts = [pc.bold(report.verdict), ""];
  for (const status of report.layers) {
    const reason = status.reason === undefined ? "" : pc.dim(` (${status.reason})`);
    parts.push(
      `Layer ${status.layer} ${LAYER_NAMES[status.layer]}: ${STATUS[status.status]}${reason}`,
      ...layerFacts(report, status.layer),
    );
    for (const finding of report.findings.filter(({ layer }) => layer === status.layer)) {
      const often = finding.count > 1 ? pc.dim(` ×${finding.count}`) : "";
      parts.push(
        `  ${COLOURS[finding.severity](finding.severity)} ${pc.bold(finding.rule)}${often}  ${finding.message}`,
      );
      for (const place of finding.places.slice(0, SHOWN_PLACES)) {
        const where = [
          place.eventNumber === undefined ? "" : `event ${place.eventNumber}`,
          place.path ?? "",
          place.detail ?? "",
        ];
        const text = where.filter((part) => part !== "").join(" ");
        // Text of the agent's must not move the cursor or change colours.
        if (text !== "") parts.push(pc.dim(`    at ${printable(text)}`));
      }
      parts.push(`    Fix: ${finding.fix}`, pc.dim(`    See ${pageReference(finding.page)}`));
    }
  }
  if (report.bytes.some(({ payload }) => payload > 0)) parts.push("", formatBytes(report));
  for (const { what, reason } of report.skipped)
    parts.push(pc.dim(`not checked: ${what}, because ${reason}`));
  return parts.join("\n");
}

function layerFacts(report: DoctorReport, layer: number): string[] {
  const facts: string[] = [];
  const times = (names: readonly string[]): string =>
    report.timeline.phases
      .filter(({ name }) => names.includes(name))
      .map(({ name, startMs, endMs }) => `${name} ${(endMs - startMs).toFixed(1)} ms`)
      .join(", ");
  const { network, exchange, stream, capabilities } = report;
  if (layer === 1 && network !== undefined) {
    facts.push(`${network.address ?? ""}:${network.port ?? ""}, ${times(["dns", "tcp", "tls"])}`);
    if (network.tls !== undefined) {
      const [own] = network.tls.chain;
      facts.push(
        `${network.tls.version}, ${network.tls.cipher}, ALPN ${network.tls.alpn || "none"}`,
      );
      if (own !== undefined)
        facts.push(
          `certificate ${printable(own.subject)} by ${printable(own.issuer)}, valid to ${own.validTo}`,
        );
    }
  }
  if (layer === 2 && exchange?.status !== undefined) {
    const version = exchange.httpVersion === undefined ? "" : ` over HTTP/${exchange.httpVersion}`;
    facts.push(
      `${exchange.method} → ${exchange.status}${version}, ${times(["preflight", "upgrade", "request", "stream"])}`,
    );
    if (exchange.excerpt !== undefined && exchange.excerpt !== "")
      facts.push(`answer: ${printable(exchange.excerpt).slice(0, 120)}`);
  }
  if (layer === 3 && stream !== undefined) {
    const version =
      stream.protocolVersion === undefined
        ? ""
        : `, declares ${printable(stream.protocolVersion).slice(0, 20)}`;
    facts.push(
      `${stream.events} events, ${stream.runs} runs, speaks ${stream.dialect}${version}, uses ${stream.features.join(", ") || "nothing"}`,
      describeEmitter(stream.emitter),
    );
  }
  if (layer === 3 && capabilities !== undefined) {
    const { isValid, groups, problem = "" } = capabilities;
    facts.push(
      `capabilities: ${printable(isValid ? groups.join(", ") || "none named" : problem).slice(0, 200)}`,
    );
  }
  return facts.map((fact) => pc.dim(`  ${fact}`));
}

/** Which framework the stream is of, and what a gateway repairs of it. */
function describeEmitter({ profiles, repairs }: StreamSummary["emitter"]): string {
  const known = profiles.length === 0 ? "none recognised" : profiles.join(" or ");
  const repaired = Object.entries(repairs).map(([note, count]) => `${note} ×${count}`);
  const told =
    repaired.length === 0
      ? "no known deviation"
      : `a gateway repairs ${repaired.join(", ")} (${COMMAND} policy explain NAME)`;
  return `emitter profile ${known}: ${told}`;
}

function formatBytes({ bytes }: DoctorReport): string {
  const number = (value: number): string => value.toLocaleString("en");
  return formatTable(
    ["bytes", "set-up", "request", "payload", "framing", "overhead", "total", ""],
    bytes.map((row) => [
      row.transport,
      number(row.setup),
      number(row.request),
      number(row.payload),
      number(row.framing),
      `${row.overheadPercent} %`,
      number(row.total),
      row.measured ? "spoken" : "computed",
    ]),
  );
}

/** Text of the agent's as one line that a terminal only shows. */
function printable(text: string): string {
  return printableText(stripVTControlCharacters(text).replaceAll(/\s+/gu, " "));
}
