import type { AddressInfo } from "node:net";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import { createSigner, generateKey } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE } from "../note/vkey.js";
import type { NoteKey } from "../note/vkey.js";
import { createWitness } from "../witness/witness.js";
import type { WitnessAddress } from "../witness/witness-client.js";
import { createWitnessServer } from "../witness/witness-server.js";
import { openFileState } from "../witness/witness-state.js";

/** A witness that listens on a free port. */
export type RunningWitness = {
  readonly address: WitnessAddress;
  readonly vkey: string;
  readonly key: Ed25519Key;
  close(): Promise<void>;
};

/** Listens on a free port of the loopback address. */
export async function listenAt(
  listener: RequestListener,
  port = 0,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Starts our witness over a directory. */
export async function startWitness(options: {
  directory: string;
  logs: readonly NoteKey[];
  name?: string;
  key?: Ed25519Key;
  clock?: () => number;
  perMinute?: number;
  port?: number;
}): Promise<RunningWitness> {
  const { directory, logs, name = "witness.example/w1", key = generateKey() } = options;
  const state = await openFileState(directory);
  const { clock = Date.now, perMinute = 100_000 } = options;
  const witness = createWitness({ name, signer: createSigner(key), logs, state, clock, perMinute });
  const { server } = createWitnessServer(witness);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const noteKey = createNoteKey(name, createSigner(key).publicKey, NOTE_COSIGNATURE);
  return {
    address: { key: noteKey, url: `http://127.0.0.1:${port}/` },
    vkey: encodeVkey(noteKey),
    key,
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await state.close();
    },
  };
}
