import { captureSession, REDACTION_GROUPS, startCapture } from "@countersign/inspect";
import type { RecordingLine, RedactionGroup } from "@countersign/inspect";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { printJson, printJsonLine, printLine } from "../../output/print.js";
import { collectHeader, readAddress, readPort, readWebAddress } from "./arguments.js";
import { openRecordingFile } from "./recording-file.js";

const EXAMPLE = `
Point your client at the address that is printed; everything is passed on to the target untouched and
recorded until you press Ctrl+C. A recording that is there is replaced only with --force. Headers are never recorded. Groups that can be taken out: ${REDACTION_GROUPS.join(", ")}
(whatever belongs to no group goes with any of them), or all.

Example:
  $ countersign capture --target http://127.0.0.1:8000/agent --out session.agui.jsonl --redact text,toolArgs
  $ countersign capture --session "http://127.0.0.1:8080/ag-ui/stream?session=s1" --out session.agui.jsonl
`;

type Flags = {
  target?: string;
  session?: string;
  out: string;
  port: number;
  force?: boolean;
  redact?: RedactionGroup[];
  header?: Record<string, string>;
  json?: boolean;
};

/** Adds `countersign capture`. */
export function registerCapture(program: Command): void {
  program
    .command("capture")
    .description("record what passes between a client and an agent")
    .option(
      "--target <url>",
      "the agent to pass everything on to (http, https, ws, wss)",
      readAddress,
    )
    .option(
      "--session <url>",
      "listen to a running GET stream instead, for example a gateway's session",
      readWebAddress,
    )
    .option("-o, --out <file>", "recording to write", "session.agui.jsonl")
    .option("--force", "replace the recording when the file is there")
    .option("--port <port>", "local port, 0 for a free one", readPort, 0)
    .option(
      "--redact <groups>",
      "groups of content to take out, with commas between them",
      readGroups,
    )
    .option(
      "-H, --header <line>",
      'header for --session, "Name: value"; may be repeated',
      collectHeader,
    )
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(capture);
}

async function capture(flags: Flags): Promise<void> {
  if ((flags.target === undefined) === (flags.session === undefined)) {
    throw new TypeError("give either --target or --session");
  }
  const recording = openRecordingFile(flags.out, flags.force === true);
  let events = 0;
  const onLine = (line: RecordingLine): void => {
    if (line.kind !== "event") return;
    recording.begin();
    events++;
    if (process.stderr.isTTY) process.stderr.write(`\r${events} events`);
  };
  const stop = new AbortController();
  const stopped = new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        stop.abort();
        done();
      });
    }
  });
  const options = { output: recording.stream, redact: flags.redact ?? [], onLine };
  try {
    if (flags.session !== undefined) {
      await captureSession({
        ...options,
        url: flags.session,
        headers: flags.header ?? {},
        signal: stop.signal,
      });
    } else {
      const running = await startCapture({
        ...options,
        target: flags.target ?? "",
        port: flags.port,
      });
      recording.begin();
      announce(flags, running.url);
      await stopped;
      await running.close();
    }
  } catch (error) {
    recording.abandon();
    throw error;
  }
  await recording.finish();
  if (flags.json === true) printJson({ file: flags.out, events });
  else
    printLine(
      `\n${events} events are in ${flags.out}; look at them with: countersign doctor ${flags.out}`,
    );
}

function announce(flags: Flags, url: string): void {
  if (flags.json === true) printJsonLine({ url, target: flags.target });
  else printLine(`${url} passes everything on to ${flags.target ?? ""}; press Ctrl+C to stop`);
}

function readGroups(text: string): RedactionGroup[] {
  if (text === "all") return [...REDACTION_GROUPS];
  return text.split(",").map((name) => {
    const group = REDACTION_GROUPS.find((known) => known === name.trim());
    if (group === undefined)
      throw new InvalidArgumentError(`the groups are ${REDACTION_GROUPS.join(", ")}, or all`);
    return group;
  });
}
