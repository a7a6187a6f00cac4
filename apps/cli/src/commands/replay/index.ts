import { createReadStream, statSync } from "node:fs";
import { CountersignError, ownMember, printableText } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { readRecording, startReplay } from "@countersign/inspect";
import type { OpenRecording } from "@countersign/inspect";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { printJsonLine, printLine } from "../../output/print.js";
import { showSteps } from "./step.js";
import { readPort } from "../capture/arguments.js";

const EXAMPLE = `
The command serves SSE and WebSocket on one port. The first request gets the first recorded connection, the second request
the second one. It reads the recording step by step and never loads the whole file.

Examples:
  $ countersign replay session.agui.jsonl --port 8000
  $ countersign replay session.agui.jsonl --speed 10 --echo-ids
  $ countersign replay session.agui.jsonl --step
`;

type Flags = { port: number; speed: number; echoIds?: boolean; step?: boolean; json?: boolean };

/** Adds `countersign replay`. */
export function registerReplay(program: Command): void {
  program
    .command("replay")
    .description("serve a recording as an agent, or show it step by step")
    .argument("<file>", ".agui.jsonl, events as JSON lines, or the body of an SSE response")
    .option("--port <port>", "local port, 0 for a free one", readPort, 0)
    .option(
      "--speed <factor>",
      "speed: 1 as recorded, 10 ten times as fast, max without waiting",
      readSpeed,
      1,
    )
    .option("--echo-ids", "use the thread and run ids of the request")
    .option("--step", "show the events one by one in the terminal instead")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(replay);
}

async function replay(file: string, flags: Flags): Promise<void> {
  if (!statSync(file).isFile()) throw new TypeError(`${file} is not a file`);
  const open = (): AsyncIterable<Uint8Array> => createReadStream(file);
  await requireRecording(file, open);
  if (flags.step === true) {
    await showSteps(open, flags.json === true);
    return;
  }
  const running = await startReplay({
    open,
    port: flags.port,
    speed: flags.speed,
    echoIds: flags.echoIds === true,
    onServe: (connId) => {
      if (flags.json !== true) printLine(`serving ${printableText(connId)}`);
    },
  });
  const { url, webSocketUrl, connections } = running;
  if (flags.json === true) printJsonLine({ url, webSocketUrl, connections });
  else
    printLine(
      `${connections.length} recorded connections at ${url} and ${webSocketUrl}; press Ctrl+C to stop`,
    );
  await new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
  await running.close();
}

/** Anything has lines; a recording has its own first line, or an event among them. */
async function requireRecording(file: string, open: OpenRecording): Promise<void> {
  for await (const line of readRecording(open())) {
    if (line.kind === "header") return;
    if (line.kind === "event" && isEvent(line.event)) return;
  }
  throw new CountersignError(
    "ERR_INSPECT_RECORDING_EMPTY",
    `${file} is not a recording: it contains no AG-UI event. Fix: record one with countersign capture`,
    {},
  );
}

function isEvent(value: JsonValue): boolean {
  return typeof ownMember(value, "type") === "string";
}

function readSpeed(text: string): number {
  const speed = text === "max" ? Infinity : Number(text);
  if (!(speed > 0)) throw new InvalidArgumentError("Write a number above 0, or max.");
  return speed;
}
