// One conversation, the same for every cell of the matrix, and what is left of it to compare.
import { ANSWER, PAGE_TOOL } from "./clients.mjs";

/** What the person says; `kind` names what the framework has to offer for it. */
export const TURNS = [
  { kind: "text", words: "Hi there" },
  { kind: "server tool", words: "What is the weather?" },
  { kind: "page tool", words: "Change the colour, please" },
  { kind: "text again", words: "Thank you" },
  { kind: "state", words: "Take a note" },
  { kind: "interrupt", words: "Please refund my order" },
  { kind: "text at the end", words: "Good bye" },
];
/** What no policy restricts. */
const PLAIN = new Set(["text", "server tool", "text again", "text at the end"]);

/**
 * Holds the conversation; the answer has one entry per run and what the client has at the end.
 *
 * @param more turns that only this framework has something to answer to
 * @param isPlain only text and tools of the server
 */
export async function converse(client, more = [], isPlain = false) {
  const runs = [];
  const all = [...TURNS.slice(0, 2), ...more, ...TURNS.slice(2)];
  const turns = all.filter(({ kind }) => !isPlain || PLAIN.has(kind));
  for (const { kind, words, forwardedProps } of turns) {
    let result = await client.say(words, forwardedProps);
    runs.push(entry(kind, result));
    const call = waitingCall(client.look().messages);
    const isAsked = result.interrupts?.some(({ toolCallId }) => toolCallId === call?.id);
    if (call !== undefined) {
      // TanStack's server takes the result of a tool of the page as the answer to a question.
      result = isAsked
        ? await client.resume(result.interrupts, ANSWER)
        : await client.answerTool(call.id, ANSWER);
      runs.push(entry(`${kind}, answered`, result));
    }
    if (result.interrupts?.length > 0) {
      result = await client.resume(result.interrupts, { approved: true });
      runs.push(entry(`${kind}, resumed`, result));
    }
  }
  const { messages, state } = client.look();
  return { runs, messages, state };
}

function waitingCall(messages) {
  const answered = new Set(messages.flatMap(({ toolCallId }) => toolCallId ?? []));
  const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []);
  return calls.findLast((call) => call.function.name === PAGE_TOOL.name && !answered.has(call.id));
}

function entry(kind, { events, error, exchanges }) {
  return { kind, events, exchanges, ...(error === undefined ? {} : { error }) };
}

/** What must be the same in two cells: ids that differ from run to run are numbered by their first use. */
export function comparable({ runs, messages, state }) {
  const names = new Map();
  const plain = (value) =>
    JSON.parse(JSON.stringify(value ?? null), (key, part) => rename(key, part, names));
  return {
    runs: runs.map(({ kind, events, error }) => ({ kind, counts: countTypes(events), error })),
    // Activities are compared too; an empty list of calls and none are the same to every client.
    messages: plain(messages).map(({ toolCalls, ...rest }) =>
      toolCalls === undefined || toolCalls.length === 0 ? rest : { ...rest, toolCalls },
    ),
    state: plain(state),
  };
}

const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/giu;
const VOLATILE = new Set(["timestamp", "createdAt", "expiresAt", "latency", "serverHash"]);

function rename(key, part, names) {
  if (VOLATILE.has(key)) return undefined;
  if (typeof part !== "string") return part;
  const numbered = (id) => {
    if (!names.has(id)) names.set(id, `id-${names.size}`);
    return names.get(id);
  };
  return /^id$|Id$/u.test(key) ? numbered(part) : part.replace(RANDOM, numbered);
}

function countTypes(events) {
  const counts = {};
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** The text and server calls that a person sees of the runs that no policy restricts. */
export function freely({ runs }) {
  return runs
    .filter(({ kind }) => PLAIN.has(kind))
    .map(({ kind, events, error }) => ({
      kind,
      error,
      text: events
        .map(({ type, delta }) => (type.startsWith("TEXT_MESSAGE") ? (delta ?? "") : ""))
        .join(""),
      calls: events.flatMap(({ toolCallName }) => toolCallName ?? []),
      results: events
        .filter(({ type }) => type === "TOOL_CALL_RESULT")
        .map(({ content }) => content),
      finished: events.some(({ type }) => type === "RUN_FINISHED"),
    }));
}
