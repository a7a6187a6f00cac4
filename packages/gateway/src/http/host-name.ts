import { isIP } from "node:net";

/**
 * Whether a request without a credential names a host that an attacker cannot control. A page whose name now resolves
 * to this machine could read the response (DNS rebinding). An attacker cannot make an IP address, or a name without a
 * dot, resolve here.
 */
export function isOurName(host: string | undefined, ours: readonly string[]): boolean {
  const name = (host ?? "")
    .toLowerCase()
    .replace(/:\d*$/u, "")
    .replace(/^\[(.*)\]$/u, "$1");
  return isIP(name) !== 0 || !name.includes(".") || ours.some((own) => own.toLowerCase() === name);
}
