import { checkServerIdentity } from "node:tls";
import type { TLSSocket } from "node:tls";
import type { Findings } from "../check/findings.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const SOON_DAYS = 14;

/** Reports what is wrong with a certificate; `true` when a client would accept it. */
export function checkCertificate(socket: TLSSocket, findings: Findings, now = Date.now()): boolean {
  const certificate = socket.getPeerCertificate();
  const left = Math.floor((Date.parse(certificate.valid_to) - now) / DAY_MS);
  const early = Date.parse(certificate.valid_from) > now;
  if (left < 0 || early) {
    findings.report("tls/expired", {
      detail: `valid ${certificate.valid_from} to ${certificate.valid_to}`,
    });
    return false;
  }
  const reason = refusal(socket);
  if (reason !== undefined) {
    findings.report("tls/certificate", { detail: reason });
    return false;
  }
  if (left < SOON_DAYS) findings.report("tls/expires-soon", { detail: `in ${left} days` });
  return true;
}

function refusal(socket: TLSSocket): string | undefined {
  // Node types the reason as an Error and gives a code.
  if (!socket.authorized) return String(socket.authorizationError);
  const name = (socket as TLSSocket & { servername?: string }).servername;
  if (name === undefined || name === "") return undefined;
  return checkServerIdentity(name, socket.getPeerCertificate())?.message;
}
