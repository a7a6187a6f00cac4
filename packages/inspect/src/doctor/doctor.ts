import { checkHttp } from "./http.js";
import { defaultInput } from "./input.js";
import type { DoctorReport } from "./report.js";
import { Session } from "./session.js";
import type { DoctorOptions } from "./session.js";
import { checkWebSocket } from "./websocket.js";

/**
 * Talks to an endpoint as a client would and reports, layer by layer, what works and what does not.
 * What is wrong with the endpoint is in the report, never thrown.
 *
 * @throws TypeError when the address is not http, https, ws or wss
 */
export async function examine(address: string, options: DoctorOptions = {}): Promise<DoctorReport> {
  const url = new URL(address);
  if (!/^(?:https?|wss?):$/.test(url.protocol)) {
    throw new TypeError("the address must begin with http://, https://, ws:// or wss://");
  }
  const session = new Session(options.input ?? defaultInput(), options);
  if (url.protocol.startsWith("ws")) await checkWebSocket(url, session);
  else await checkHttp(url, session);
  // Queries may carry tokens of EventSource clients.
  return session.report(
    `${url.origin === "null" ? `${url.protocol}//${url.host}` : url.origin}${url.pathname}`,
  );
}
