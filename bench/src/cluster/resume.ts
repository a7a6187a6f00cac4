import { sleep } from "../gateway/clock.js";
import { median } from "../statistics.js";

/** Resumes of streams whose connection broke. */
export type Resumes = {
  /** Milliseconds from the request to the first missed event: median and slowest. */
  readonly middle: number;
  readonly slowest: number;
  readonly resumed: number;
  readonly attempts: number;
  /** The status of the first refusal. */
  readonly refused?: number;
};

const PATH = "/agents/agent?reconnect=1";

async function request(
  port: number,
  thread: string,
  signal: AbortSignal,
  last?: string,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${PATH}`, {
    method: "POST",
    signal,
    headers: {
      accept: "text/event-stream",
      "content-type": "application/json",
      ...(last === undefined ? {} : { "last-event-id": last }),
    },
    body: JSON.stringify({
      threadId: thread,
      runId: `run-${thread}`,
      messages: [{ id: `question-${thread}`, role: "user", content: "Which flights are there?" }],
      tools: [],
      context: [],
    }),
  });
}

/** Reads until an event with an id has arrived, and `count` events; returns the last id. */
async function readEvents(response: Response, count: number): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`a stream ended: ${text.slice(0, 300)}`);
    text += decoder.decode(value, { stream: true });
    const ids = [...text.matchAll(/^id: ?(.+)$/gmu)].map((match) => match[1] ?? "");
    const complete = text.split("\n\n").length - 1;
    if (complete >= count && ids.length >= count) return ids.at(-1) ?? "";
  }
}

/** Breaks streams of one gateway, and resumes each at another one a moment later. */
export async function measureResumes(from: number, to: number, attempts: number): Promise<Resumes> {
  const waits: number[] = [];
  let refused: number | undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const thread = `resume-${from}-${to}-${process.pid}-${attempt}`;
    const broken = new AbortController();
    const last = await readEvents(await request(from, thread, broken.signal), 4);
    broken.abort();
    // Some events are missed meanwhile.
    await sleep(0.15);
    const resumed = new AbortController();
    const began = performance.now();
    const response = await request(to, thread, resumed.signal, last);
    if (response.status === 200) {
      await readEvents(response, 1);
      waits.push(performance.now() - began);
    } else refused ??= response.status;
    resumed.abort();
  }
  return {
    middle: median(waits),
    slowest: Math.max(...waits),
    resumed: waits.length,
    attempts,
    ...(refused === undefined ? {} : { refused }),
  };
}
