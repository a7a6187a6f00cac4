/** One step of a connection, with its times in milliseconds since the check began. */
export type Phase = {
  readonly name: "dns" | "tcp" | "tls" | "preflight" | "upgrade" | "request" | "stream";
  readonly startMs: number;
  readonly endMs: number;
  readonly detail?: string;
};

/** Milliseconds since the check began. */
export type Clock = () => number;

/** Collects the phases of one check. */
export class Phases {
  readonly list: Phase[] = [];
  readonly now: Clock;

  constructor(now: Clock) {
    this.now = now;
  }

  /** Times a step; the detail may depend on its result. */
  async time<T>(
    name: Phase["name"],
    step: () => Promise<T>,
    detail: (result: T) => string = () => "",
  ): Promise<T> {
    const startMs = this.now();
    let text = "failed";
    try {
      const result = await step();
      text = detail(result);
      return result;
    } finally {
      this.add(name, startMs, text);
    }
  }

  /** Adds a step that ends now. */
  add(name: Phase["name"], startMs: number, detail = ""): void {
    const phase = { name, startMs: round(startMs), endMs: round(this.now()) };
    this.list.push(detail === "" ? phase : { ...phase, detail });
  }
}

/** A time as reports show it: tenths of milliseconds. */
export function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
