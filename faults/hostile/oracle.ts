import { canonicalText } from "@countersign/testkit";

type Json = Record<string, unknown>;

/**
 * Whether a value that came out is a value that went in, with at most something left out.
 *
 * The gateway may drop members it does not know and items that are withheld; it may never add or change.
 */
export function isReduction(out: unknown, given: unknown): boolean {
  if (Array.isArray(out)) {
    if (!Array.isArray(given)) return false;
    let at = 0;
    for (const item of out) {
      while (at < given.length && !isReduction(item, given[at])) at += 1;
      if (at >= given.length) return false;
      at += 1;
    }
    return true;
  }
  if (typeof out !== "object" || out === null) return Object.is(out, given) || out === given;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  return Object.entries(out).every(
    ([name, member]) => Object.hasOwn(given, name) && isReduction(member, (given as Json)[name]),
  );
}

/**
 * The data of every event in a byte stream, by a plain reading of the SSE standard; what stands at the end
 * without its blank line counts too, as it does for the official AG-UI client.
 */
export function readSse(bytes: Buffer): string[] {
  const found: string[] = [];
  let data: string[] = [];
  const lines = bytes
    .toString("utf8")
    .replace(/^\ufeff/u, "")
    .split(/\r\n|\n|\r/u);
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) found.push(data.join("\n"));
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  if (data.length > 0) found.push(data.join("\n"));
  return found;
}

/** The value of a text that is JSON, whose names are all used once; `undefined` for everything else. */
export function strictValue(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Written again, a doubled name is gone: the text has more strings before a colon than the value has names.
  return countColons(text) === countNames(value) ? value : undefined;
}

function countColons(text: string): number {
  return (text.replaceAll(/"(?:[^"\\]|\\.)*"/gsu, "s").match(/:/gu) ?? []).length;
}

function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value).reduce<number>((sum, item) => sum + countNames(item), 0);
  return members + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** What an agent's event may become on its way: itself, or the parts that a chunk stands for. */
function formsOf(sent: Json): Json[] {
  const { type } = sent;
  if (type === "TEXT_MESSAGE_CHUNK") {
    return ["START", "CONTENT", "END"].map((part) => ({ ...sent, type: `TEXT_MESSAGE_${part}` }));
  }
  if (type === "TOOL_CALL_CHUNK") {
    return ["START", "ARGS", "END"].map((part) => ({ ...sent, type: `TOOL_CALL_${part}` }));
  }
  if (type === "REASONING_MESSAGE_CHUNK") {
    return ["START", "CONTENT", "END"].map((part) => ({
      ...sent,
      type: `REASONING_MESSAGE_${part}`,
    }));
  }
  return [sent];
}

/** Where an agent answers with another run id than it was asked with, the gateway says so in its own corner. */
function asTheAgentSaid(event: Json, asked: { threadId: string }): Json {
  const { countersign, ...metadata } = (event["metadata"] ?? {}) as Json;
  const { agentRunId, ...others } = (countersign ?? {}) as Json;
  if (agentRunId === undefined || Object.keys(others).length > 0) return event;
  // The version of the stream is the gateway's to say as well, and so is the thread, if it is the one asked for:
  // the dialect in which agents answer like this may leave it out.
  const { metadata: _own, protocolVersion: _version, threadId, ...rest } = event;
  return {
    ...rest,
    runId: agentRunId,
    ...(threadId === asked.threadId ? {} : { threadId }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

/** A list without the person's words that no list of the agent has: the gateway puts back what a list leaves out. */
function withoutPutBack(event: Json, sent: readonly Json[]): Json {
  if (event["type"] !== "MESSAGES_SNAPSHOT" || !Array.isArray(event["messages"])) return event;
  const idsOf = (list: unknown): unknown[] =>
    Array.isArray(list) ? list.map((message) => (message as Json | null)?.["id"]) : [];
  const listed = new Set(sent.flatMap(({ messages }) => idsOf(messages)));
  const messages = (event["messages"] as Json[]).filter(
    ({ id, role }) => role !== "user" || listed.has(id),
  );
  return { ...event, messages };
}

const TERMINAL = new Set(["RUN_FINISHED", "RUN_ERROR"]);
const OWN_ERROR = /^(?:AGENT|GATEWAY|BLOCKED|RECEIPTS|RUN)_/u;

/** What is wrong with what a person was shown, given what the agent sent; nothing when all is well. */
export function judgeDelivery(
  delivered: readonly Json[],
  body: Buffer,
  ids: { threadId: string; runId: string },
): string | undefined {
  // A start is supplied where an older dialect has none; it may say nothing but what was asked for.
  const supplied = { type: "RUN_STARTED", protocolVersion: "1.0", ...ids };
  const sent = readSse(body)
    .map(strictValue)
    .filter((value): value is Json => typeof value === "object" && value !== null)
    .flatMap(formsOf);
  for (const shown of delivered) {
    const event = asTheAgentSaid(shown, ids);
    const isOwn = event["type"] === "RUN_ERROR" && OWN_ERROR.test(String(event["code"]));
    if (isOwn || isReduction(event, supplied)) continue;
    const agents = withoutPutBack(event, sent);
    if (!sent.some((candidate) => isReduction(agents, candidate))) {
      return `delivered but never sent: ${canonicalText(event).slice(0, 300)}`;
    }
  }
  const ends = delivered.filter(({ type }) => TERMINAL.has(String(type))).length;
  if (ends === 0 || !TERMINAL.has(String(delivered.at(-1)?.["type"]))) {
    return "a stream that was begun did not end in a terminal event";
  }
  return undefined;
}
