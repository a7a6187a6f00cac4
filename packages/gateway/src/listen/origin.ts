const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether a page of this origin may speak to us. No origin means no browser.
 *
 * Beside the configured list, a page from the very host it calls is fine on loopback only: elsewhere a
 * name that an attacker points at this machine would be its own host too (DNS rebinding).
 */
export function isAllowedOrigin(
  origin: string | undefined,
  host: string | undefined,
  origins: ReadonlySet<string>,
): boolean {
  if (origin === undefined || origins.has(origin) || origins.has("*")) return true;
  if (!URL.canParse(origin)) return false;
  const { host: from } = new URL(origin);
  return from === host && LOOPBACK.test(from);
}
