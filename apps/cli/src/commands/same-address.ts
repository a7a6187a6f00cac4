/** An agent, as far as its address goes. */
type Addressed = { readonly name: string; readonly url: URL };

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The names of agents that are one server under one path, in groups; nothing of their addresses is in it. */
export function namesOfOneAddress(agents: readonly Addressed[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const { name, url } of agents) {
    const key = placeOf(url);
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The host and port of an address, without transport and credential. */
function placeOf({ protocol, hostname, port, pathname, search }: URL): string {
  const isSecure = protocol === "https:" || protocol === "wss:";
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `${host}:${port || (isSecure ? "443" : "80")}${pathname.replace(/\/$/, "")}${search}`;
}
