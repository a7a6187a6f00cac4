/** The key of this package's own metadata. */
export const METADATA_KEY = "countersign.projection";

/** Prefix of every CUSTOM name of built-in owners; reserved. */
export const RESERVED_PREFIX = "agent-os.";

/** Every CUSTOM name of runtime facts. */
export const RUNTIME_CUSTOM_NAMES = [
  "agent-os.chat.ingested",
  "agent-os.llm.completed",
  "agent-os.llm.error",
  "agent-os.llm.refusal",
  "agent-os.llm.requested",
  "agent-os.llm.usage",
  "agent-os.run.interrupted",
  "agent-os.run.resumed",
  "agent-os.runtime.completed_after_tools",
  "agent-os.runtime.history_compacted",
  "agent-os.runtime.rekeyed",
  "agent-os.tool.completed",
  "agent-os.tool.policy_rejected",
  "agent-os.tool.rejected",
  "agent-os.tool.started",
] as const;

/** One of the names above. */
export type RuntimeCustomName = (typeof RUNTIME_CUSTOM_NAMES)[number];

/**
 * Whether an application owner may use a CUSTOM name. The protocol reserves bare names (some
 * trigger behaviour in clients: `PredictState`, `Exit`, `on_interrupt`), and we reserve our
 * prefixes.
 */
export function isOwnName(name: string): boolean {
  const folded = name.normalize("NFKC").toLowerCase().trim();
  if (!/[.:/]/.test(folded)) return false;
  return !/^(agent-os|ag-ui|countersign)[.:/]/.test(folded);
}
