import type { LogEntry } from "../entry/entry.js";
import type { TimedDraft } from "../entry/draft.js";
import { ENTRY_COLUMNS } from "./query.js";
import type { EntryColumn } from "./query.js";

/** Values of the columns, in the order of {@link ENTRY_COLUMNS}; null where the entry has none. */
export type ColumnValues = (string | boolean | null)[];

/** The index prefix of a custom event type; plain types contain no colon. */
const CUSTOM = "custom:";

const READ: {
  readonly [Column in EntryColumn]: (draft: TimedDraft | LogEntry) => string | boolean | undefined;
} = {
  session_id: (draft) => draft.receipt.session_id,
  agent_id: (draft) => draft.receipt.agent_id,
  run_id: (draft) => draft.run_id,
  thread_id: (draft) => draft.thread_id,
  event_type: ({ receipt: { event_type } }) =>
    typeof event_type === "string" ? event_type : `${CUSTOM}${event_type.custom}`,
  classification: (draft) => draft.receipt.classification,
  target_type: (draft) => draft.receipt.target?.component_type,
  target_id: (draft) => draft.receipt.target?.component_id,
  allowed: (draft) => draft.receipt.allowed,
  rule: (draft) => draft.rule,
  capability_id: (draft) => draft.receipt.capability_id,
  direction: (draft) => draft.direction,
  mode: (draft) => draft.mode,
  transport: (draft) => draft.receipt.transport,
  principal: (draft) => draft.principal,
  client_address: (draft) => draft.client_address,
  tool: (draft) => draft.tool,
  path: (draft) => draft.path,
};
const READERS = ENTRY_COLUMNS.map((column) => READ[column]);

/** The index columns of an entry or a draft. */
export function columnValues(draft: TimedDraft | LogEntry): ColumnValues {
  return READERS.map((read) => read(draft) ?? null);
}
