import { createInterface } from "node:readline/promises";
import { stripVTControlCharacters } from "node:util";
import { readRecording, textOf } from "@countersign/inspect";
import type { OpenRecording, RecordingLine } from "@countersign/inspect";
import pc from "picocolors";
import { printableText } from "@countersign/core";
import { printJsonLine, printLine } from "../../output/print.js";

const LONGEST = 400;

/** Shows a recording event by event: Enter shows the next one, q ends. In a pipe it runs through. */
export async function showSteps(open: OpenRecording, json: boolean): Promise<void> {
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true && !json;
  const keys = interactive
    ? createInterface({ input: process.stdin, output: process.stdout })
    : undefined;
  let events = 0;
  try {
    for await (const line of readRecording(open())) {
      // `seq` also counts lines that are not events.
      if (line.kind === "event") events += 1;
      if (json) printJsonLine(line);
      else printLine(formatStep(line, events));
      if (keys === undefined || line.kind !== "event") continue;
      const answer = await keys.question(pc.dim("Enter for the next event, q to stop "));
      if (answer.trim().toLowerCase() === "q") return;
    }
  } finally {
    keys?.close();
  }
}

function formatStep(line: RecordingLine, eventNumber: number): string {
  if (line.kind === "header")
    return pc.dim(
      `recorded ${printable(String(line.capturedAt))} over ${printable(String(line.transport))}`,
    );
  const at = pc.dim(`${(line.tMs / 1000).toFixed(3).padStart(9)} s ${printable(line.connId)}`);
  switch (line.kind) {
    case "request":
      return `${at} ${pc.cyan("→")} ${printable(`${line.method} ${line.url}`)}`;
    case "response":
      return `${at} ${pc.cyan("←")} ${line.status} ${printable(line.contentType)}`;
    case "comment":
      return `${at} ${pc.dim(`: ${printable(line.text)}`)}`;
    case "end":
      return `${at} ${line.reason === "cut" ? pc.red("cut") : pc.green("end")}`;
    case "event":
      return `${at} ${pc.bold(`#${eventNumber}`)} ${printable(textOf(line))}`;
  }
}

/** Text of a recording must not move the cursor or change colours. */
function printable(text: string): string {
  const plain = printableText(stripVTControlCharacters(text));
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST)}…`;
}
