import { isCountersignError, parseJson } from "@countersign/core";
import { enforceCapabilities } from "@countersign/wire/enforce";
import { createFindings } from "../check/findings.js";
import { connect } from "../probe/connect.js";
import { exchange } from "../probe/exchange.js";
import type { ExchangeResponse } from "../probe/exchange.js";
import { Phases } from "../probe/phase.js";
import { mediaType } from "./body.js";
import type { CapabilityFacts } from "./report.js";
import type { Session } from "./session.js";

const MAX_BYTES = 65_536;
const PATIENCE_MS = 3000;

/**
 * Asks `GET <path>/capabilities` over a connection of its own, where many agents say what they can do. AG-UI names no place for it
 * and never asks for it: no response, or another one than JSON, says nothing.
 */
export async function fetchCapabilities(
  endpoint: URL,
  { options, phases, timeoutMs }: Session,
): Promise<CapabilityFacts | undefined> {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/u, "")}/capabilities`;
  const patience = Math.min(timeoutMs, PATIENCE_MS);
  const connected = await connect({
    url,
    // The connection was checked already.
    findings: createFindings(),
    phases: new Phases(phases.now),
    timeoutMs: patience,
    alpn: ["h2", "http/1.1"],
    insecure: options.insecure === true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  if (connected === undefined) return undefined;
  const { socket } = connected;
  const late = setTimeout(() => socket.destroy(), patience);
  try {
    const response = await exchange(socket, {
      method: "GET",
      url,
      headers: { ...options.headers, accept: "application/json" },
      signal: AbortSignal.timeout(patience),
    });
    const isJson = mediaType(response.headers.get("content-type") ?? "") === "application/json";
    if (response.status !== 200 || !isJson) return undefined;
    return checkDeclaration(await readWhole(response));
  } catch {
    return undefined;
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

function checkDeclaration(text: string): CapabilityFacts {
  try {
    const capabilities = enforceCapabilities(parseJson(text));
    return { isValid: true, groups: Object.keys(capabilities).slice(0, 16) };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return { isValid: false, groups: [], problem: error.message };
  }
}

async function readWhole({ body }: ExchangeResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new RangeError("the response is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
