import { Agent, request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { pause, until } from "./scale.js";

/** An event as a test looks at it. */
export type SeenEvent = { readonly type: string; readonly [field: string]: unknown };

/** A run as its client sees it; fields change while it goes on. */
export type ClientRun = {
  readonly threadId: string;
  readonly runId: string;
  status: number;
  headers: IncomingMessage["headers"];
  /** The body of an answer that is no stream. */
  problem: string;
  /** Every event that was received whole. */
  readonly events: SeenEvent[];
  /** The texts of the same events. */
  readonly texts: string[];
  /** The id of the last event, where the server gives ids. */
  lastId: string | undefined;
  /** Comments received: signs of life. */
  heartbeats: number;
  /** Whether the answer came to its proper end, as opposed to a torn connection. */
  isComplete: boolean;
  /** Resolves when the connection is over, whatever the reason. */
  readonly ended: Promise<void>;
  readonly request: ClientRequest;
  pause(): void;
  resume(): void;
  abort(): void;
};

/** What a test says about a request. */
export type RunOptions = {
  readonly threadId?: string;
  readonly runId?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keep what arrives out of memory: only the count matters. */
  readonly onEvent?: (event: SeenEvent) => void;
  readonly startsPaused?: boolean;
};

let counted = 0;

/** Connections of clients are never shared: each is one person. */
const alone = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Starts a run and follows its stream with a reader of its own, independent of the product's. */
export function openRun(url: string, options: RunOptions = {}): ClientRun {
  counted += 1;
  const threadId = options.threadId ?? `thread-${process.pid}-${counted}`;
  const runId = options.runId ?? `run-${process.pid}-${counted}`;
  let settle = (): void => {};
  let response: IncomingMessage | undefined;
  const asked = request(`${url}${options.path ?? "/agents/support"}`, {
    method: "POST",
    agent: alone,
    headers: { "content-type": "application/json", ...options.headers },
  });
  const run: ClientRun = {
    threadId,
    runId,
    status: 0,
    headers: {},
    problem: "",
    events: [],
    texts: [],
    lastId: undefined,
    heartbeats: 0,
    isComplete: false,
    ended: new Promise((resolve) => {
      settle = resolve;
    }),
    request: asked,
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
    abort: () => void asked.destroy(),
  };
  asked.on("error", () => settle());
  asked.on("close", () => settle());
  asked.on("response", (answer) => {
    response = answer;
    run.status = answer.statusCode ?? 0;
    run.headers = answer.headers;
    const isStream = answer.headers["content-type"] === "text/event-stream";
    let rest = "";
    answer.setEncoding("utf8");
    answer.on("error", () => settle());
    answer.on("end", () => {
      run.isComplete = answer.complete;
      settle();
    });
    answer.on("data", (text: string) => {
      if (!isStream) {
        run.problem += text;
        return;
      }
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) take(run, block, options.onEvent);
    });
    if (options.startsPaused === true) answer.pause();
  });
  asked.end(
    options.body ??
      JSON.stringify({ threadId, runId, protocolVersion: "1.0", messages: [], tools: [] }),
  );
  return run;
}

function take(run: ClientRun, block: string, onEvent?: (event: SeenEvent) => void): void {
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith(":")) run.heartbeats += 1;
    else if (line.startsWith("id: ")) run.lastId = line.slice(4);
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  if (data.length === 0) return;
  const text = data.join("\n");
  const event = JSON.parse(text) as SeenEvent;
  if (onEvent !== undefined) return onEvent(event);
  run.events.push(event);
  run.texts.push(text);
  return undefined;
}

/** Follows a run to its end. */
export async function finishRun(url: string, options: RunOptions = {}): Promise<ClientRun> {
  const run = openRun(url, options);
  await run.ended;
  return run;
}

/** The code of an answer that is a problem, or of a stream's last event. */
export function codeOf(run: ClientRun): string | undefined {
  if (run.status === 200) return run.events.at(-1)?.["code"] as string | undefined;
  return run.problem === "" ? undefined : (JSON.parse(run.problem) as { code?: string }).code;
}

/** How long an answer to a plain `GET` takes, in milliseconds. */
export function timeGet(url: string): Promise<{ status: number; milliseconds: number }> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: alone }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        resolve({ status: answer.statusCode ?? 0, milliseconds: performance.now() - started });
      });
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Waits until a gateway says that decisions can be recorded again. */
export async function untilReady(url: string): Promise<void> {
  await until("it is ready again", async () => {
    await pause(200);
    return (await timeGet(`${url}/readyz`)).status === 200;
  });
}
