import { gzipSync } from "node:zlib";
import { cut, damage } from "./bytes.js";
import { poisonedEvents, realEvents } from "./corpus.js";
import type { Event } from "./corpus.js";
import { writeMutated } from "./json.js";
import type { Random } from "../../fuzz/engine/random.js";

/** What an agent answers in one case. */
export type HostileAnswer = {
  /** The stream as it was meant, before HTTP wrapped it: what the oracle reads. */
  readonly body: Buffer;
  /** What is written to the connection, write by write. */
  readonly writes: readonly Buffer[];
  /** Whether the connection is torn down instead of closed. */
  readonly resets: boolean;
};

const ENDINGS = ["\n", "\r\n", "\r"] as const;

/** Makes the answer of one case out of a real stream. */
export function hostileAnswer(
  ids: { threadId: string; runId: string },
  random: Random,
): HostileAnswer {
  const body = Buffer.from(streamOf(ids, random));
  const damaged = random.chance(0.3) ? damage(body, random) : body;
  const wire = wrap(damaged, random);
  return { body: damaged, writes: cut(wire, random), resets: random.chance(0.03) };
}

function streamOf(ids: { threadId: string; runId: string }, random: Random): string {
  const events = realEvents(ids, ids.runId);
  const isPoisoned = random.chance(0.5);
  // A shorter stream leaves time for more of them: the start, a few of the rest, the end.
  const kept = events.filter(({ type }) => type.startsWith("RUN_") || !random.chance(0.4));
  disorder(kept, random);
  const target = random.chance(0.75) ? random.below(kept.length) : -1;
  const texts = kept.map((event, index) =>
    index === target ? writeMutated(event, random) : JSON.stringify(event),
  );
  if (isPoisoned) {
    // Poison itself stays whole: changed into something else, it might rightly pass.
    const at = 1 + random.below(Math.max(1, texts.length - 1));
    texts.splice(at, 0, ...poisonedEvents(ids.runId).map((event) => JSON.stringify(event)));
  }
  const ending = random.pick(ENDINGS);
  return texts.map((text) => frame(text, ending, random)).join("");
}

function disorder(events: Event[], random: Random): void {
  if (!random.chance(0.25)) return;
  const from = random.below(events.length);
  const [moved] = events.splice(from, 1);
  if (moved === undefined) return;
  const to = random.below(events.length + 1);
  if (random.chance(0.7)) events.splice(to, 0, moved);
  if (random.chance(0.3)) events.splice(from, 0, moved);
}

function frame(text: string, ending: string, random: Random): string {
  // A raw line break in the data is several data lines to a writer that means well.
  const data = random.chance(0.8) ? text.split(/[\r\n]/u) : [text];
  const lines = data.map((line) => `data:${random.chance(0.9) ? " " : ""}${line}`);
  if (random.chance(0.05))
    lines.unshift(random.pick(["event: message", "id: 7", "retry: 1", ": hi", "data"]));
  if (random.chance(0.02))
    lines.push(random.pick(["event", "nonsense: 1", "id:\0", "\ufeffdata: {}"]));
  return `${lines.join(ending)}${ending}${ending}`;
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** HTTP around a stream: mostly right, sometimes any of the games that are played with it. */
function wrap(body: Buffer, random: Random): Buffer {
  const plain = (head: string, content: Buffer = body): Buffer =>
    Buffer.concat([Buffer.from(`${head}\r\n`), content]);
  if (random.chance(0.6)) return plain(HEAD);
  switch (random.below(14)) {
    case 0:
      return plain(`${HEAD}transfer-encoding: chunked\r\n`, chunked(body, random));
    case 1:
      return plain(`${HEAD}transfer-encoding: chunked\r\n`, chunked(body, random, 0.1));
    case 2:
      return plain(`${HEAD}content-length: ${random.below(body.length)}\r\n`);
    case 3:
      return plain(`${HEAD}content-length: ${body.length + 1 + random.below(1000)}\r\n`);
    case 4:
      return plain(
        `${HEAD}content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n`,
        chunked(body, random),
      );
    case 5:
      return plain(`${HEAD}content-encoding: ${random.pick(["gzip", "br", "identity", "x"])}\r\n`);
    case 6:
      return plain(`${HEAD}content-encoding: gzip\r\n`, gzipSync(body));
    case 7:
      return plain(
        HEAD.replace(
          "text/event-stream",
          random.pick(["text/html", "application/json", "", "text/event-stream; charset=utf-16"]),
        ),
      );
    case 8:
      return plain(
        HEAD.replace("200", random.pick(["204", "304", "500", "301", "101", "999", "abc"])),
      );
    case 9:
      return plain(HEAD.replace("HTTP/1.1", random.pick(["HTTP/1.0", "HTTP/9.9", "ICY"])));
    case 10:
      return Buffer.concat([damage(Buffer.from(HEAD), random), plain("")]);
    case 11:
      return plain(`${HEAD}x-long: ${"y".repeat(random.pick([100, 20_000]))}\r\n`);
    case 12:
      return Buffer.concat([Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), plain(HEAD)]);
    default:
      return plain(`${HEAD}transfer-encoding: chunked\r\n`, Buffer.from("fffffffffffffff1\r\nx"));
  }
}

/** The chunked form of a body; with `lies`, some chunks are said to be longer or shorter than they are. */
function chunked(body: Buffer, random: Random, lies = 0): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, 1 + random.below(300));
    const extension = random.chance(0.05) ? ";name=value" : "";
    const said = Math.max(1, size + (random.chance(lies) ? random.below(9) - 4 : 0));
    parts.push(Buffer.from(`${said.toString(16)}${extension}\r\n`), body.subarray(at, at + size));
    parts.push(Buffer.from("\r\n"));
    at += size;
  }
  parts.push(Buffer.from("0\r\n\r\n"));
  return Buffer.concat(parts);
}
