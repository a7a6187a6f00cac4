/** The key under which this package adds its own metadata. */
export const METADATA_KEY = "countersign.projection";

/** Prefix of every CUSTOM name made from built-in owners; nobody else may use it. */
export const RESERVED_PREFIX = "agent-os.";

/** Every CUSTOM name that facts of the runtime become. */
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
 * Whether an owner of the application's may use a CUSTOM name. Bare names are reserved by the protocol
 * (some trigger behaviour in clients: `PredictState`, `Exit`, `on_interrupt`), ours by us.
 */
export function isOwnName(name: string): boolean {
  const folded = name.normalize("NFKC").toLowerCase().trim();
  if (!/[.:/]/.test(folded)) return false;
  return !/^(agent-os|ag-ui|countersign)[.:/]/.test(folded);
}
