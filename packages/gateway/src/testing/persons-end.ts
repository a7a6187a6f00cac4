import { createProtoDecoder } from "@countersign/wire/proto";
import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";
import { officialResult } from "../../../wire/src/testing/official-pipeline.js";
import { SAID } from "./older-acts.js";
import { readStream } from "./stream-reader.js";
import { socketRun, sseEvents } from "./transports.js";

/** How much of the thread a client repeats with its next request. */
export type Repeats = "all of it" | "nothing" | "no request";

/** The gateway that a client uses. */
export type Urls = { readonly url: string; readonly webSocketUrl: string };

type Input = { readonly threadId: string; readonly [member: string]: unknown };

/** A way in which a client sends a request and reads its events. */
type Ask = (urls: Urls, input: Input) => Promise<object[]>;

const PROTOBUF = "application/vnd.ag-ui.event+proto";

/** The transports of a client whose requests have an input. */
const ASKS = {
  "POST + SSE": async (urls, input) => sseEvents(await (await post(urls, input)).text()),
  "POST + protobuf": async (urls, input) => {
    const response = await post(urls, input, { accept: PROTOBUF });
    return createProtoDecoder().push(new Uint8Array(await response.arrayBuffer()));
  },
  WebSocket: ({ webSocketUrl }, input) =>
    socketRun(`${webSocketUrl}/agents/support/ws?session=${input.threadId}`, input),
  // The connection breaks after two frames, and the client resumes the stream.
  "POST + SSE, resumed": async ({ url }, input) => {
    const path = `${url}/agents/support?reconnect=1&session=${input.threadId}`;
    const first = await readStream(path, { body: input, dropAfter: 2 });
    await first.closed;
    const id = first.frames.at(-1)?.id ?? "";
    const rest = await readStream(path, { body: input, headers: { "last-event-id": id } });
    await rest.closed;
    if (rest.status !== 200) throw new TypeError(`the stream was not resumed: ${rest.status}`);
    return [...first.frames, ...rest.frames].flatMap(({ data }) =>
      data === "" ? [] : [JSON.parse(data) as object],
    );
  },
} satisfies Record<string, Ask>;

/** The transport of a client. */
export type Transport = keyof typeof ASKS;
/** Every transport of a client. */
export const TRANSPORTS = Object.keys(ASKS) as Transport[];

/** Sends an input over a transport; returns the delivered events. */
export function send(transport: Transport, urls: Urls, input: Input): Promise<object[]> {
  return ASKS[transport](urls, input);
}

/** Opens the stream of a session, which has no input. */
export async function openStream(
  { url }: Urls,
  { threadId, runId }: { threadId: string; runId: string },
  query = "",
): Promise<object[]> {
  const stream = await fetch(`${url}/ag-ui/stream?session=${threadId}&run=${runId}${query}`);
  if (!stream.ok) throw new TypeError(await stream.text());
  return sseEvents(await stream.text());
}

async function post(
  { url }: Urls,
  input: Input,
  headers: Record<string, string> = {},
): Promise<Response> {
  const path = `${url}/agents/support?session=${input.threadId}`;
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(input) });
  if (!response.ok) throw new TypeError(await response.text());
  return response;
}

/** A client of a thread: the official client's reducer over all delivered events. */
export class PersonsEnd {
  messages: Message[] = [SAID];
  readonly threadId: string;
  #runs = 0;

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  /** Starts the next run; returns its events. */
  async run(
    urls: Urls,
    repeats: Repeats,
    fields: object = {},
    transport: Transport = "POST + SSE",
  ): Promise<AgUiEvent[]> {
    this.#runs += 1;
    const runId = `${this.threadId}-${this.#runs}`;
    const asked = this.#ask(urls, repeats, { runId, fields }, transport);
    const events = (await asked) as unknown as AgUiEvent[];
    const input = { threadId: this.threadId, runId, messages: this.messages, state: {} };
    const view = await officialResult(input as unknown as RunAgentInput, events);
    this.messages = structuredClone(view.messages);
    return events;
  }

  async #ask(
    urls: Urls,
    repeats: Repeats,
    { runId, fields }: { runId: string; fields: object },
    transport: Transport,
  ): Promise<object[]> {
    const { threadId } = this;
    if (repeats === "no request") return openStream(urls, { threadId, runId });
    const isFirst = this.#runs === 1;
    const sent = this.messages.filter(({ role }) => role !== "activity");
    const messages = isFirst || repeats === "all of it" ? sent : [];
    return send(transport, urls, { threadId, runId, protocolVersion: "1.0", messages, ...fields });
  }
}
