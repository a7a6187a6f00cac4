import type { Clock, MintId } from "../base/ports.js";
import { createUlid } from "./ulid.js";

const PREFIXES = {
  event: "evt_",
  thread: "thread_",
  run: "run_",
  message: "msg_",
  toolCall: "call_",
  session: "sess_",
} as const;

/** Creates the gateway's own identifiers: a prefix for the kind, then a ULID. */
export function createMint(clock: Clock): MintId {
  const ulid = createUlid(() => clock.now());
  return (kind) => PREFIXES[kind] + ulid();
}
