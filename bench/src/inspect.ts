/**
 * The doctor on a recording of a million events: events checked per second from bytes to findings,
 * and the memory held meanwhile, which must not grow with the recording.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { examineRecording } from "@countersign/inspect";

const EVENTS = Number(process.env["COUNTERSIGN_BENCH_EVENTS"] ?? 1_000_000);
const PER_RUN = 1000;
const MEBIBYTE = 1024 * 1024;

type Format = "agui.jsonl" | "jsonl" | "sse";

/** One run after the other, as a long session is recorded; each has a text, a tool call and state. */
function* eventTexts(): Generator<string> {
  for (let made = 0, run = 0; made < EVENTS; run++) {
    const ids = `"threadId":"thread_2_1775335498802","runId":"run_${run}"`;
    const message = `8bfc10b0-027e-4f0e-9c3e-${run}`;
    yield `{"type":"RUN_STARTED",${ids}}`;
    yield '{"type":"STATE_SNAPSHOT","snapshot":{"step":0}}';
    yield `{"type":"TEXT_MESSAGE_START","messageId":"${message}","role":"assistant"}`;
    for (let index = 0; index < PER_RUN - 9; index++) {
      yield `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${message}","delta":" word${index}"}`;
    }
    yield `{"type":"TEXT_MESSAGE_END","messageId":"${message}"}`;
    yield `{"type":"TOOL_CALL_START","toolCallId":"call_${run}","toolCallName":"lookup"}`;
    yield `{"type":"TOOL_CALL_ARGS","toolCallId":"call_${run}","delta":"{\\"q\\":1}"}`;
    yield `{"type":"TOOL_CALL_END","toolCallId":"call_${run}"}`;
    yield '{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/step","value":1}]}';
    yield `{"type":"RUN_FINISHED",${ids}}`;
    made += PER_RUN;
  }
}

function frame(format: Format, text: string, index: number): string {
  if (format === "sse") return `data: ${text}\n\n`;
  if (format === "jsonl") return `${text}\n`;
  return `{"kind":"event","connId":"c1","seq":${index},"tMs":${index},"event":${text}}\n`;
}

let peak = 0;

/** The recording in reads of 64 KiB, generated on demand, so that it is never held whole. */
async function* recording(format: Format): AsyncGenerator<Uint8Array> {
  let text = "";
  let index = 0;
  let reads = 0;
  for (const event of eventTexts()) {
    text += frame(format, event, ++index);
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = "";
    if (++reads % 200 === 0) {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + external);
    }
  }
  yield Buffer.from(text);
}

const rows: string[] = [];
for (const format of ["agui.jsonl", "jsonl", "sse"] as const) {
  // The time of the generator itself, subtracted below.
  const idle = performance.now();
  for await (const chunk of recording(format)) if (chunk.length < 0) break;
  const making = performance.now() - idle;
  globalThis.gc?.();
  const before = process.memoryUsage();
  peak = 0;
  const began = performance.now();
  const report = await examineRecording("bench", recording(format));
  const checking = performance.now() - began - making;
  if (report.findings.some(({ severity }) => severity !== "note")) throw new Error(report.verdict);
  const events = report.stream?.events ?? 0;
  const grown = (peak - before.heapUsed - before.external) / MEBIBYTE;
  const speed = Math.round(events / (checking / 1000)).toLocaleString("en");
  rows.push(`| ${format} | ${events.toLocaleString("en")} | ${speed} | ${grown.toFixed(1)} MiB |`);
}

const text = [
  "# Checking a recording",
  "",
  `Node ${process.version}, ${process.platform} ${process.arch}; parse, dialect, schema, chunks, order and symptoms of every`,
  "event, the making of the recording taken off. Memory is what is held after collection, at its highest.",
  "",
  "| recording | events | events per second | memory above the start |",
  "|---|---:|---:|---:|",
  ...rows,
  "",
].join("\n");
const folder = new URL("../results/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("inspect.md", folder), text);
process.stdout.write(`${text}\n`);
