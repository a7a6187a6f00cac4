import { createSigner, importPrivateKey } from "@countersign/core/sign";
import { parseVkey } from "../note/vkey.js";
import { createWitness } from "../witness/witness.js";
import { createWitnessServer } from "../witness/witness-server.js";
import { openFileState } from "../witness/witness-state.js";

// A witness that runs until it is killed; prints its port.
const [directory = "", vkey = ""] = process.argv.slice(2);
const witness = createWitness({
  name: "witness.example/killed",
  signer: createSigner(importPrivateKey(new Uint8Array(32).fill(10))),
  logs: [parseVkey(vkey)],
  state: await openFileState(directory),
  perMinute: 1_000_000,
});
const { server } = createWitnessServer(witness);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
});
