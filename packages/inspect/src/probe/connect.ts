import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";
import type { Findings } from "../check/findings.js";
import type { RuleId } from "../rules/table.js";
import { checkCertificate } from "./certificate.js";
import type { Phases } from "./phase.js";

/** Facts about the connection to the server. */
export type NetworkFacts = {
  address?: string;
  port?: number;
  tls?: {
    version: string;
    cipher: string;
    /** From the server's own certificate up to the root that was sent. */
    chain: { subject: string; issuer: string; validTo: string }[];
    alpn: string;
  };
};

/** How to connect. */
export type ConnectOptions = {
  readonly url: URL;
  readonly findings: Findings;
  readonly phases: Phases;
  readonly timeoutMs: number;
  /** Offered to the server; WebSocket needs HTTP/1.1. */
  readonly alpn: readonly string[];
  /** Goes on although the certificate is not trusted. */
  readonly insecure: boolean;
  /** Further trusted roots, PEM. */
  readonly ca?: string;
};

/** An open connection. */
export type Connected = { readonly socket: Socket; readonly facts: NetworkFacts };

const CODES: ReadonlyMap<string, RuleId> = new Map<string, RuleId>([
  ["ENOTFOUND", "net/name"],
  ["EAI_AGAIN", "net/name"],
  ["ENODATA", "net/name"],
  ["ECONNREFUSED", "net/refused"],
  ["ETIMEDOUT", "net/timeout"],
]);

/** Walks layer 1 step by step; `undefined` when a step failed, which is then a finding. */
export async function connect(options: ConnectOptions): Promise<Connected | undefined> {
  const { url, findings, phases } = options;
  const secure = url.protocol === "https:" || url.protocol === "wss:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const facts: NetworkFacts = { port };
  let opened: Socket | undefined;
  try {
    const address = await phases.time(
      "dns",
      () => resolve(host),
      (found) => found,
    );
    facts.address = address;
    if (!secure && !isLoopback(address)) findings.report("tls/none");
    const tcp = await phases.time(
      "tcp",
      () => openTcp(address, port, options.timeoutMs),
      () => `${address}:${port}`,
    );
    opened = tcp;
    if (!secure) return { socket: tcp, facts };
    const socket = await phases.time(
      "tls",
      () => openTls(tcp, host, options),
      (agreed) => agreed.getProtocol() ?? "",
    );
    facts.tls = describeTls(socket);
    const trusted = checkCertificate(socket, findings);
    if (trusted || options.insecure) return { socket, facts };
    socket.destroy();
  } catch (error) {
    opened?.destroy();
    const { code = "", message = "" } = error as NodeJS.ErrnoException;
    const fallback = phases.list.at(-1)?.name === "tls" ? "tls/handshake" : "net/unreachable";
    findings.report(CODES.get(code) ?? fallback, { detail: code === "" ? message : code });
  }
  return undefined;
}

async function resolve(host: string): Promise<string> {
  return isIP(host) === 0 ? (await lookup(host)).address : host;
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

function timedOut(): Error {
  return Object.assign(new Error("timed out"), { code: "ETIMEDOUT" });
}

function openTcp(host: string, port: number, timeoutMs: number): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connectTcp({ host, port });
    socket.setNoDelay(true);
    socket.setTimeout(timeoutMs, () => socket.destroy(timedOut()));
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      socket.setTimeout(0);
      // An error between here and the request is that request's to report.
      socket.on("error", () => {});
      done(socket);
    });
  });
}

function openTls(tcp: Socket, host: string, options: ConnectOptions): Promise<TLSSocket> {
  return new Promise((done, failed) => {
    const socket = connectTls({
      socket: tcp,
      ALPNProtocols: [...options.alpn],
      // Judged afterwards, so that the report can say what is wrong with the chain.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    const timer = setTimeout(() => socket.destroy(timedOut()), options.timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      failed(error);
    };
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("the server closed the connection")));
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      socket.on("error", () => {});
      done(socket);
    });
  });
}

function describeTls(socket: TLSSocket): NonNullable<NetworkFacts["tls"]> {
  const chain: NonNullable<NetworkFacts["tls"]>["chain"] = [];
  const seen = new Set<string>();
  for (
    let certificate = socket.getPeerCertificate(true);
    certificate?.fingerprint256 !== undefined && !seen.has(certificate.fingerprint256);
    certificate = certificate.issuerCertificate
  ) {
    seen.add(certificate.fingerprint256);
    chain.push({
      subject: String(certificate.subject?.CN ?? ""),
      issuer: String(certificate.issuer?.CN ?? ""),
      validTo: certificate.valid_to,
    });
  }
  return {
    version: socket.getProtocol() ?? "",
    cipher: socket.getCipher()?.name ?? "",
    chain,
    alpn: socket.alpnProtocol === false || socket.alpnProtocol === null ? "" : socket.alpnProtocol,
  };
}
