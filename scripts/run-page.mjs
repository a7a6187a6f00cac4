// Runs the commands of a page as a reader would, in order, in a folder of its own. Marks before a block, invisible to readers:
//   <!-- not run -->            the block is not run
//   <!-- file: NAME -->         the block is a file
//   <!-- terminal: NAME -->     the command runs on, in a terminal of its own, until the page ends
//   <!-- until NAME: TEXT -->   the block is done when that terminal prints TEXT
// A block `text` after a command is what the command prints: each line in order, with … for anything.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { read, root } from "./sources.mjs";

const BLOCK = /(?:^<!-- ([^>]+) -->\n)?^```(\w+)\n(.*?)^```$/gmsu;
const MARK = /^(not run|file|terminal|until)(?::? ([\w.-]+))?(?:: (.+))?$/u;
const COMMAND = `"${process.execPath}" "${join(root, "apps/cli/bin/countersign.js")}"`;

/** A port that is free now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function escapeRegExp(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** What a block `text` promises, as an expression: its lines in order, with other lines between them. */
function expectationOf(text) {
  const lines = text.trim().split("\n");
  return new RegExp(lines.map((line) => escapeRegExp(line).replaceAll("…", ".*")).join("[^]*"));
}

/** Runs a page; rejects with the command and its output where one fails or prints something else. Returns the number of commands. */
export async function runPage(page, folder) {
  const ports = new Map();
  for (const port of ["8000", "8080", "8081"]) ports.set(port, String(await freePort()));
  const onFreePorts = (text) =>
    text.replaceAll(/(?<=[:( ])80(?:00|80|81)\b/g, (port) => ports.get(port));
  const terminals = new Map();
  let commands = 0;
  let printed = "";
  try {
    for (const [, mark = "", language, code] of read(page).matchAll(BLOCK)) {
      const [, kind, name, text] = MARK.exec(mark) ?? [];
      if (kind === "not run") continue;
      if (language === "text") {
        const expected = expectationOf(code);
        if (!expected.test(printed)) throw new Error(`${page}: ${expected} is not in:\n${printed}`);
      } else if (kind === "file") {
        writeFileSync(join(folder, name), onFreePorts(code));
      } else if (language === "sh") {
        commands += 1;
        const script = onFreePorts(code).replaceAll("npx countersign", COMMAND);
        const terminal = start(script, folder);
        if (kind === "terminal") {
          terminals.set(name, terminal);
          await isListening(ports.get(name === "agent" ? "8000" : "8080"), terminal);
        } else {
          const watched = kind === "until" ? terminals.get(name) : undefined;
          const seen = watched?.output.length;
          printed = await terminal.ended;
          rewritePorts(folder, onFreePorts);
          if (watched !== undefined) await watched.prints(text, seen);
        }
      }
    }
    return commands;
  } finally {
    for (const terminal of terminals.values()) {
      if (!terminal.hasEnded) process.kill(-terminal.pid, "SIGKILL");
      await terminal.ended.catch(() => undefined);
    }
  }
}

/** The configuration that a command wrote names the usual ports. */
function rewritePorts(folder, onFreePorts) {
  for (const name of readdirSync(folder)) {
    if (name !== "countersign.yaml") continue;
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    if (text !== onFreePorts(text)) writeFileSync(file, onFreePorts(text));
  }
}

function start(script, cwd) {
  const child = spawn("bash", ["-e", "-c", script], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  const terminal = {
    pid: child.pid,
    output: "",
    hasEnded: false,
    ended: undefined,
    prints: undefined,
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      terminal.output += text;
      child.emit("printed");
    });
  }
  terminal.ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      terminal.hasEnded = true;
      if (code === 0) resolve(terminal.output);
      else reject(new Error(`exit code ${code}:\n${script}\n${terminal.output}`));
    });
  });
  terminal.ended.catch(() => undefined);
  terminal.prints = (text, from) =>
    new Promise((resolve) => {
      const look = () => {
        if (!terminal.output.slice(from).includes(text)) return;
        child.off("printed", look);
        resolve();
      };
      child.on("printed", look);
      look();
    });
  return terminal;
}

/** Waits until a terminal's program accepts connections, or fails with what it printed. */
async function isListening(port, terminal) {
  const connects = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  const answers = async () => {
    while (!terminal.hasEnded && !(await connects())) await delay(100);
  };
  await Promise.race([answers(), terminal.ended]);
}
