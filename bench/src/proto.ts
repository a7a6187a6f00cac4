/** `@countersign/wire/proto` beside `@ag-ui/proto` and `@ag-ui/encoder` 1.0.0, on the same frames. */
import type { BaseEvent } from "@ag-ui/core";
import { EventEncoder } from "@ag-ui/encoder";
import { decode } from "@ag-ui/proto";
import type { AgUiEvent } from "@countersign/wire";
import { createProtoDecoder, encodeProto, PROTO_MEDIA_TYPE } from "@countersign/wire/proto";
import { compare, report } from "./harness.js";
import type { Measured } from "./harness.js";

const CHUNK_BYTES = 16_384;

/** Text as agents stream it: ids of usual length, one token each, a timestamp on every third. */
function textDeltas(): AgUiEvent[] {
  const messageId = "msg_01HZX3V8Q2T6N9";
  return Array.from({ length: 5000 }, (_, index) => {
    const event = { type: "TEXT_MESSAGE_CONTENT" as const, messageId, delta: ` token${index}` };
    return index % 3 === 0 ? { ...event, timestamp: 1_790_000_000_000 + index } : event;
  });
}

/** Conversations and state: deep objects, content parts, tool calls. */
function snapshots(): AgUiEvent[] {
  return Array.from({ length: 200 }, (_, index): AgUiEvent => {
    if (index % 2 === 0) {
      const rows = Array.from({ length: 20 }, (_row, id) => ({
        id,
        name: `row ${id}`,
        open: true,
      }));
      return { type: "STATE_SNAPSHOT", snapshot: { step: index, rows } };
    }
    const turns = Array.from({ length: 10 }, (_turn, turn) => [
      {
        id: `u${turn}`,
        role: "user" as const,
        content: [{ type: "text" as const, text: "hello" }],
      },
      {
        id: `a${turn}`,
        role: "assistant" as const,
        content: "Certainly, here is what I found in the index.",
        toolCalls: [
          {
            id: `c${turn}`,
            type: "function" as const,
            function: { name: "search", arguments: '{"query":"countersign"}' },
          },
        ],
      },
    ]);
    return { type: "MESSAGES_SNAPSHOT", messages: turns.flat() };
  });
}

const official = new EventEncoder({ accept: PROTO_MEDIA_TYPE });

function measureWriting(events: readonly AgUiEvent[]): Measured[] {
  return compare([
    {
      name: "@ag-ui/encoder 1.0.0",
      run: () => {
        for (const event of events) official.encodeBinary(event as BaseEvent);
        return events.length;
      },
    },
    {
      name: "countersign",
      run: () => {
        for (const event of events) encodeProto(event);
        return events.length;
      },
    },
  ]);
}

function measureReading(events: readonly AgUiEvent[]): Measured[] {
  const frames = events.map((event) => encodeProto(event));
  // The official package has no stream decoder: it gets envelopes that are already split.
  const envelopes = frames.map((frame) => frame.subarray(4));
  const stream = Buffer.concat(frames);
  return compare([
    {
      name: "@ag-ui/proto 1.0.0 (frames cut beforehand)",
      run: () => {
        for (const envelope of envelopes) decode(envelope);
        return events.length;
      },
    },
    {
      name: "countersign (stream in 16 KiB chunks)",
      run: () => {
        const decoder = createProtoDecoder();
        let read = 0;
        for (let at = 0; at < stream.length; at += CHUNK_BYTES) {
          read += decoder.push(stream.subarray(at, at + CHUNK_BYTES)).length;
        }
        decoder.end();
        return read;
      },
    },
  ]);
}

report("proto", "Protobuf frames", {
  "Read text deltas": measureReading(textDeltas()),
  "Write text deltas": measureWriting(textDeltas()),
  "Read snapshots": measureReading(snapshots()),
  "Write snapshots": measureWriting(snapshots()),
});
