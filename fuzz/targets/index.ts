import type { FuzzTarget } from "../engine/target.js";
import { CAPABILITY_TARGETS } from "./capability.js";
import { CORE_TARGETS } from "./core.js";
import { DOCUMENT_TARGETS } from "./documents.js";
import { GATEWAY_TARGETS } from "./gateway.js";
import { POLICY_TARGETS } from "./policy.js";
import { RECEIPT_TARGETS } from "./receipts.js";
import { SURFACE_TARGETS } from "./surface.js";
import { TIMESTAMP_TARGETS } from "./timestamp.js";
import { WIRE_TARGETS } from "./wire.js";

/** Every fuzz target; `fuzz/parsers.test.ts` compares it with the parsers in the sources. */
export const TARGETS: readonly FuzzTarget[] = [
  ...CORE_TARGETS,
  ...WIRE_TARGETS,
  ...CAPABILITY_TARGETS,
  ...SURFACE_TARGETS,
  ...POLICY_TARGETS,
  ...RECEIPT_TARGETS,
  ...TIMESTAMP_TARGETS,
  ...GATEWAY_TARGETS,
  ...DOCUMENT_TARGETS,
];
