import type { Command } from "commander";
import pc from "picocolors";
import { startDemo } from "../demo/start-demo.js";
import { printJson, printLine } from "../output/print.js";
import { readPort } from "./capture/arguments.js";

type DemoFlags = { port: number; json?: boolean };

/** Reasons why a port is unavailable. */
const PORT_FAILURES: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is in use"],
  ["EACCES", "cannot be used by this user"],
]);

const EXAMPLE = `
The demo needs no API key, no model and no network. Ctrl+C stops the demo.

Examples:
  $ countersign demo
  $ countersign demo --port 4000
`;

/** Adds `countersign demo`, which `npm start` runs. */
export function registerDemo(program: Command): void {
  program
    .command("demo")
    .description(
      "start a misbehaving agent, the gateway in front of it, and a page that shows both",
    )
    .option("-p, --port <number>", "port of the demo page", readPort, 8090)
    .option("--json", "print the addresses as JSON")
    .addHelpText("after", EXAMPLE)
    .action(demo);
}

async function demo(flags: DemoFlags): Promise<void> {
  const running = await startDemo(flags.port).catch((error: NodeJS.ErrnoException) => {
    const why = error.syscall === "listen" ? PORT_FAILURES.get(error.code ?? "") : undefined;
    if (why === undefined) throw error;
    throw new Error(
      `port ${flags.port} ${why}. Fix: choose another port with countersign demo --port 4000, or npm start -- --port 4000`,
    );
  });
  if (flags.json === true) {
    printJson({
      page: running.url,
      gateway: running.running.dataUrl,
      control: running.running.controlUrl,
      console: running.running.consoleUrl,
      adminToken: running.running.freshAdminToken,
    });
  } else {
    printLine("");
    printLine(`  ${pc.bold("Countersign demo")}  open ${pc.cyan(running.url)} in a browser`);
    printLine(`  gateway ${running.running.dataUrl}  control ${running.running.controlUrl}`);
    if (running.running.consoleUrl !== undefined) {
      printLine(
        `  console ${running.running.consoleUrl}  token ${running.running.freshAdminToken ?? ""}`,
      );
    }
    printLine(`  ${pc.dim("Ctrl+C stops the demo")}`);
    printLine("");
  }
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await running.close();
}
