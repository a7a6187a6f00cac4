import type { CallRecord, MessageRecord } from "./message-record.js";

/** Versions of a message kept for a run that sends its messages again and again. */
const MAX_VERSIONS = 8192;

/** Joins the records of a message that a cut run replaced under its id: the client may have either version. */
export function joinRecords(earlier: MessageRecord, later: MessageRecord): MessageRecord {
  if (earlier.role !== later.role) return later;
  const from = earlier.from ?? 0;
  if (later.role === "tool") {
    // Two tool results under one id are two messages, and the client then has both.
    const { at: _, ...rest } = later;
    return { ...rest, from, content: [...new Set([...earlier.content, ...later.content])] };
  }
  const [content, at] = joinVersions(
    [earlier.content, earlier.at ?? []],
    [later.content, later.at ?? []],
  );
  const calls = joinCalls(earlier.calls ?? [], later.calls ?? []);
  // A message list may lose fields that events had. The client has either version, or neither.
  const fields = { ...earlier.fields, ...later.fields };
  // Without sizes: text with several versions is not joined with other text.
  const { sizes: _, ...rest } = later;
  return {
    ...rest,
    content,
    from,
    at,
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}

function joinCalls(earlier: readonly CallRecord[], later: readonly CallRecord[]): CallRecord[] {
  // Removed calls may be missing at any time.
  if (earlier.length > later.length) return earlier.map((call) => withoutStart(call));
  return later.map((call, index) => {
    const before = earlier[index];
    if (before?.id !== call.id) return call;
    const [texts, at] = joinVersions(
      [before.arguments, before.at ?? []],
      [call.arguments, call.at ?? []],
    );
    const fields = { ...before.fields, ...call.fields };
    return {
      ...call,
      arguments: texts,
      from: before.from ?? 0,
      at,
      ...(Object.keys(fields).length === 0 ? {} : { fields }),
    };
  });
}

function withoutStart(call: CallRecord): CallRecord {
  const { from: _, ...rest } = call;
  return rest;
}

type Versions = readonly [digests: readonly string[], at: readonly number[]];

function joinVersions(earlier: Versions, later: Versions): [string[], number[]] {
  const isSame = later[0].length > 0 && earlier[0].at(-1) === later[0][0];
  const rest = isSame ? 1 : 0;
  return [
    [...earlier[0], ...later[0].slice(rest)].slice(-MAX_VERSIONS),
    [...earlier[1], ...later[1].slice(rest)].slice(-MAX_VERSIONS),
  ];
}
