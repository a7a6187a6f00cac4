import { captureSession, REDACTION_GROUPS, startCapture } from "@countersign/inspect";
import type { RecordingLine, RedactionGroup } from "@countersign/inspect";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { COMMAND } from "../../output/command-name.js";
import { printJson, printJsonLine, printLine } from "../../output/print.js";
import { collectHeader, readAddress, readPort, readWebAddress } from "./arguments.js";
import { openRecordingFile } from "./recording-file.js";

const EXAMPLE = `
Connect your client to the address that the command prints. The command forwards everything unchanged to the target and
records it until you press Ctrl+C. It never records headers.
--redact takes ${REDACTION_GROUPS.join(", ")} or all. Each of them also leaves out content that belongs to no group.

Examples:
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
    .description("record the traffic between a client and an agent")
    .option("--target <url>", "address of the agent: http, https, ws or wss", readAddress)
    .option(
      "--session <url>",
      "record a GET stream instead, for example a session of a gateway",
      readWebAddress,
    )
    .option("-o, --out <file>", "file to write", "session.agui.jsonl")
    .option("--force", "overwrite an existing file")
    .option("--port <port>", "local port, 0 for a free one", readPort, 0)
    .option("--redact <groups>", "content to leave out, separated by commas", readGroups)
    .option(
      "-H, --header <line>",
      'header for --session, "Name: value" (repeatable)',
      collectHeader,
    )
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(capture);
}

async function capture(flags: Flags): Promise<void> {
  if ((flags.target === undefined) === (flags.session === undefined)) {
    throw new TypeError(
      "one of --target and --session is needed. Fix: add --target URL, or --session URL",
    );
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
    printLine(`\n${events} events are in ${flags.out}. Check them: ${COMMAND} doctor ${flags.out}`);
}

function announce(flags: Flags, url: string): void {
  if (flags.json === true) printJsonLine({ url, target: flags.target });
  else printLine(`${url} forwards to ${flags.target ?? ""}; press Ctrl+C to stop`);
}

function readGroups(text: string): RedactionGroup[] {
  if (text === "all") return [...REDACTION_GROUPS];
  return text.split(",").map((name) => {
    const group = REDACTION_GROUPS.find((known) => known === name.trim());
    if (group === undefined)
      throw new InvalidArgumentError(
        `Write one or more of ${REDACTION_GROUPS.join(", ")}, or all.`,
      );
    return group;
  });
}
