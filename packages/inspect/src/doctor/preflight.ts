import { connect } from "../probe/connect.js";
import { exchange } from "../probe/exchange.js";
import { Phases } from "../probe/phase.js";
import { createFindings } from "../check/findings.js";
import type { Session } from "./session.js";

const DEFAULT_ORIGIN = "http://localhost:3000";

/** Asks as a browser does before a page may send the run, over a connection of its own. */
export async function preflight(url: URL, session: Session): Promise<void> {
  const { options, phases, findings, timeoutMs } = session;
  const origin = options.origin ?? DEFAULT_ORIGIN;
  const asked = [
    "content-type",
    ...Object.keys(options.headers ?? {}).map((name) => name.toLowerCase()),
  ];
  const startMs = phases.now();
  const connected = await connect({
    url,
    // The connection was checked already; a failure here is the preflight's.
    findings: createFindings(),
    phases: new Phases(phases.now),
    timeoutMs,
    alpn: ["h2", "http/1.1"],
    insecure: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  if (connected === undefined) return;
  const { socket } = connected;
  let refusal: string | undefined = "no response";
  let allowed = false;
  try {
    const response = await exchange(socket, {
      method: "OPTIONS",
      url,
      headers: {
        origin,
        "access-control-request-method": options.get === true ? "GET" : "POST",
        "access-control-request-headers": [...new Set(asked)].sort().join(","),
      },
      signal: AbortSignal.timeout(Math.min(timeoutMs, 5000)),
    });
    allowed = response.headers.has("access-control-allow-origin");
    refusal = refusalOf(response.status, response.headers, origin, asked);
    session.byteFacts = { ...session.byteFacts, preflight: socket.bytesRead + socket.bytesWritten };
    response.close();
  } catch {
    socket.destroy();
  }
  phases.add("preflight", startMs, refusal ?? "allowed");
  if (refusal === undefined) return;
  if (options.origin !== undefined || allowed)
    findings.report("http/cors-refused", { detail: `${origin}: ${refusal}` });
  else findings.report("http/no-cors", { detail: refusal });
}

function refusalOf(
  status: number,
  headers: ReadonlyMap<string, string>,
  origin: string,
  asked: readonly string[],
): string | undefined {
  if (status < 200 || status > 299) return `status ${status}`;
  const allowed = headers.get("access-control-allow-origin");
  if (allowed === undefined) return "no Access-Control-Allow-Origin";
  if (allowed !== "*" && allowed !== origin) return "another origin is allowed";
  const names = new Set(
    (headers.get("access-control-allow-headers") ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  // A wildcard never covers Authorization (Fetch §CORS non-wildcard request-header name).
  const missing = asked.find(
    (name) => !names.has(name) && (name === "authorization" || !names.has("*")),
  );
  return missing === undefined ? undefined : `header ${missing} is not allowed`;
}
