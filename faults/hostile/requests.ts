import { cut, damage } from "./bytes.js";
import { POISONED_TOOL, realInput } from "./corpus.js";
import { handshake, hostileFrames } from "./frames.js";
import { writeMutated } from "./json.js";
import type { Random } from "../../fuzz/engine/random.js";

/** What a client sends in one case. */
export type HostileRequest = {
  /** The texts that were meant as inputs: what the oracle compares with. */
  readonly texts: readonly string[];
  readonly writes: readonly Buffer[];
  /** Messages in it. */
  readonly count: number;
};

type Ids = { threadId: string; runId: string };

function inputText(ids: Ids, random: Random): Buffer {
  const input = realInput(ids);
  // A poisoned request stays whole in that part: changed into something else, it might rightly pass.
  const isPoisoned = random.chance(0.25);
  const text =
    random.chance(0.2) || isPoisoned
      ? JSON.stringify(isPoisoned ? { ...input, tools: [POISONED_TOOL] } : input)
      : writeMutated(input, random);
  const bytes = Buffer.from(text);
  return random.chance(0.25) && !isPoisoned ? damage(bytes, random) : bytes;
}

/** A request over HTTP: a mutated input, in HTTP that is mostly right. */
export function hostilePost(ids: Ids, session: string, random: Random): HostileRequest {
  const body = inputText(ids, random);
  const path = `${random.pick(["/agents/support", "/ag-ui/run", "/invocations"])}?session=${session}`;
  const head = ["host: gateway", "connection: close", "content-type: application/json"];
  let method = "POST";
  let framed: Buffer = body;
  let length: string[] = [`content-length: ${body.length}`];
  if (random.chance(0.3)) {
    switch (random.below(12)) {
      case 0:
        length = ["transfer-encoding: chunked"];
        framed = Buffer.concat([
          Buffer.from(`${body.length.toString(16)}\r\n`),
          body,
          Buffer.from("\r\n0\r\n\r\n"),
        ]);
        break;
      case 1:
        length = [`content-length: ${body.length}`, "transfer-encoding: chunked"];
        framed = Buffer.concat([Buffer.from("0\r\n\r\n"), body]);
        break;
      case 2:
        length = [`content-length: ${body.length}`, `content-length: ${body.length + 1}`];
        break;
      case 3:
        length = [
          `content-length: ${random.pick(["-1", "0", "1e3", "99999999999999999999", "+5", ""])}`,
        ];
        break;
      case 4:
        length = [`content-length: ${body.length + 10}`];
        break;
      case 5:
        head.push(`content-encoding: ${random.pick(["gzip", "br", "deflate"])}`);
        break;
      case 6:
        method = random.pick(["GET", "PUT", "OPTIONS", "TRACE", "post", "PATCH", "HEAD"]);
        break;
      case 7:
        head.push(
          random.pick([
            "accept: application/vnd.ag-ui.event+proto",
            "accept: */*;q=x",
            "expect: 100-continue",
            "upgrade: h2c",
          ]),
        );
        break;
      case 8:
        head.push(`x-long: ${"z".repeat(random.pick([1000, 17_000]))}`);
        break;
      case 9:
        head.push(random.pick(["bad header", "x\0y: 1", " folded: 1", "x: \u0001", "host: other"]));
        break;
      case 10:
        length = ["transfer-encoding: chunked"];
        framed = Buffer.concat([Buffer.from("7fffffffffffffff\r\n"), body]);
        break;
      default:
        length = ["transfer-encoding: gzip, chunked, identity"];
    }
  }
  const start = Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${[...head, ...length].join("\r\n")}\r\n\r\n`,
  );
  const wire = Buffer.concat([random.chance(0.03) ? damage(start, random) : start, framed]);
  return { texts: [body.toString("utf8")], writes: cut(wire, random), count: 1 };
}

/** A socket with several messages on it. */
export function hostileSocket(ids: Ids, session: string, random: Random): HostileRequest {
  const path = random.pick(["/ws", "/agents/support/ws"]);
  const texts: string[] = [];
  const writes = [handshake(`${path}?session=${session}`, random)];
  const count = 1 + random.below(4);
  for (let index = 0; index < count; index += 1) {
    const bytes = random.chance(0.15)
      ? Buffer.from(
          random.pick([
            '{"type":"STOP"}',
            '{"event_type":"x","payload":{}}',
            "[]",
            "data: {}\n\n",
            "",
          ]),
        )
      : inputText({ ...ids, runId: `${ids.runId}-${index}` }, random);
    texts.push(bytes.toString("utf8"));
    writes.push(...hostileFrames(bytes, random));
  }
  return { texts, writes, count };
}
