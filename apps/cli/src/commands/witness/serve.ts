import type { AddressInfo } from "node:net";
import { createSigner } from "@countersign/core/sign";
import { createJournal } from "@countersign/gateway";
import type { Journal } from "@countersign/gateway";
import { createWitness, createWitnessServer, openFileState } from "@countersign/receipts/witness";
import type { WitnessResponse } from "@countersign/receipts/witness";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { collectCount } from "../receipts/trust.js";
import { readWitnessDirectory, WITNESS_DIRECTORY } from "./witness-directory.js";

type Flags = { host: string; port: number; perMinute: number; check?: boolean; json?: boolean };

const EXAMPLE = `
The witness serves POST /add-checkpoint (C2SP tlog-witness), GET /HASH/checkpoint (its newest checkpoint of a log; HASH is the
hexadecimal SHA-256 of the origin) and GET /metrics. It speaks HTTP: put it behind a proxy with TLS. It reads the file logs
at its start.

Exit code of --check: 0 the witness can start, 2 it cannot.

Examples:
  $ countersign witness serve
  $ countersign witness serve /srv/witness --host 0.0.0.0 --port 8090
  $ countersign witness serve --check
`;

/** Adds `countersign witness serve`. */
export function registerServeWitness(group: Command): void {
  group
    .command("serve")
    .description("start a witness")
    .argument("[directory]", "directory of the witness", WITNESS_DIRECTORY)
    .option("--host <address>", "address to bind", "127.0.0.1")
    .option("--port <number>", "TCP port; 0 takes a free one", readPort, 8090)
    .option("--per-minute <count>", "cosignatures per minute and log", collectCount, 60)
    .option("--check", "check the directory, change nothing, and exit")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(serve);
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port > 65_535) throw new InvalidArgumentError("Write a port, 0 to 65535.");
  return port;
}

async function serve(directory: string, flags: Flags): Promise<void> {
  const { name, key, vkey, logs, state: folder } = await readWitnessDirectory(directory);
  if (flags.check === true) {
    const accepted = [...new Set(logs.map((log) => log.name))];
    if (flags.json === true) printJson({ name, vkey, logs: accepted });
    else printLine(`the witness ${name} can start; it accepts ${accepted.join(", ") || "no log"}`);
    return;
  }
  const state = await openFileState(folder);
  const journal = createJournal({ level: "info", format: flags.json === true ? "json" : "auto" });
  const witness = createWitness({
    name,
    signer: createSigner(key),
    logs,
    state,
    perMinute: flags.perMinute,
  });
  const { server } = createWitnessServer(witness, {
    onResponse: (response) => log(journal, response),
    onError: (error) => journal.error({ error: (error as Error).message }, "the witness failed"),
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(flags.port, flags.host, resolve);
  }).catch(async (error: unknown) => {
    await state.close();
    throw error;
  });
  const { address, port } = server.address() as AddressInfo;
  const host = address.includes(":") ? `[${address}]` : address;
  journal.info({ witness: name, vkey, logs: logs.length, host, port }, "the witness listens");
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), CLOSE_MS).unref();
  });
  await state.close();
  journal.info({}, "stopped");
  await journal.flush(CLOSE_MS);
}

/** Milliseconds that open requests and the last log lines may take. */
const CLOSE_MS = 2000;

/** A conflict is how a gateway learns the cosigned size, at each of its starts; a proof that does not verify is evidence. */
function log(journal: Journal, { status, origin, size }: WitnessResponse): void {
  const facts = { status, ...(origin === undefined ? {} : { log: origin }) };
  if (status === 200) journal.info({ ...facts, size: size ?? 0 }, "cosigned");
  else if (status === 422) journal.error(facts, "a signed checkpoint contradicts the cosigned one");
  else if (status === 409) journal.info(facts, "the gateway named another size, and asks again");
  else journal.warn(facts, "not cosigned");
}
