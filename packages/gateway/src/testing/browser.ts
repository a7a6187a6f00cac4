/** A browser without a screen: it keeps cookies by host and follows redirects only when told to. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Requests an address with the cookies of its host, and keeps those of the response. */
  async fetch(address: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(address);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie === "" ? {} : { cookie }), ...(init.headers as object) };
    const response = await fetch(address, { redirect: "manual", ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const [name = "", ...value] = pair.split("=");
      if (/max-age=0\b|expires=Thu, 01 Jan 1970/iu.test(line)) jar.delete(name);
      else jar.set(name, value.join("="));
    }
    return response;
  }

  /** Follows redirects until an address begins with `stop`, which is returned without being requested. */
  async followUntil(address: string, stop: string): Promise<string> {
    let next = address;
    for (let steps = 0; steps < 20; steps++) {
      if (next.startsWith(stop)) return next;
      const response = await this.fetch(next);
      const location = response.headers.get("location");
      if (location === null) {
        throw new TypeError(`${next} answered ${response.status}: ${await response.text()}`);
      }
      await response.body?.cancel();
      next = new URL(location, next).href;
    }
    throw new TypeError("too many redirects");
  }

  /** The value of a cookie. */
  cookie(address: string, name: string): string | undefined {
    return this.#cookies.get(new URL(address).host)?.get(name);
  }
}
