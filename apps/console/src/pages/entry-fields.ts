import type { Entry } from "../api/responses.js";
import { dateOf } from "../components/format-time.js";

/** The kind of event, a custom one by its own name. */
export function eventName({ receipt: { event_type: type } }: Entry): string {
  return typeof type === "string" ? type : type.custom;
}

/** The part of the screen that an event aimed at. */
export function targetName({ receipt: { target } }: Entry): string {
  if (target === undefined) return "";
  return target.component_id === undefined
    ? target.component_type
    : `${target.component_type}:${target.component_id}`;
}

/** A field of an entry: its value, and what it says. */
export type EntryField = {
  readonly name: string;
  readonly value: string;
  readonly says: string;
  /** Filters of the log that find more of the same. */
  readonly more?: Readonly<Record<string, string>>;
  readonly isLong?: boolean;
};

/** Every field of an entry, in the order in which one asks. */
export function fieldsOf(entry: Entry): EntryField[] {
  const { receipt } = entry;
  const optional = (field: Omit<EntryField, "value">, value: string | undefined): EntryField[] =>
    value === undefined || value === "" ? [] : [{ ...field, value }];
  return [
    { name: "seq", value: String(entry.seq), says: "Position in the log, counted from 0" },
    {
      name: "id",
      value: receipt.id,
      says: "The receipt's id: agui- and the id of the event",
      isLong: true,
    },
    { name: "event_id", value: receipt.event_id, says: "The id of the event", isLong: true },
    {
      name: "received_at",
      value: dateOf(new Date(entry.received_at)),
      says: `When the gateway received the event: ${new Date(entry.received_at).toISOString()}`,
    },
    {
      name: "timestamp",
      value: String(receipt.timestamp),
      says: "The timestamp of the event, in seconds since 1970",
    },
    {
      name: "direction",
      value: entry.direction,
      says:
        entry.direction === "inbound"
          ? "From the client to the agent"
          : "From the agent to the client",
    },
    {
      name: "agent_id",
      value: receipt.agent_id,
      says: "The agent of the run",
      more: { agent_id: receipt.agent_id },
    },
    ...optional(
      {
        name: "principal",
        says: "The principal of the run or request; a keyed hash if the configuration says so",
        ...more("principal", entry.principal),
      },
      entry.principal,
    ),
    ...optional(
      {
        name: "client_address",
        says: "The address of the client, as the gateway believes it",
        ...more("client_address", entry.client_address),
      },
      entry.client_address,
    ),
    ...optional(
      {
        name: "session_id",
        says: "The session of the run",
        ...more("session_id", receipt.session_id),
      },
      receipt.session_id,
    ),
    ...optional(
      { name: "run_id", says: "The run of the event", ...more("run_id", entry.run_id) },
      entry.run_id,
    ),
    ...optional(
      {
        name: "thread_id",
        says: "The thread of the run",
        ...more("thread_id", entry.thread_id),
      },
      entry.thread_id,
    ),
    { name: "event_type", value: eventName(entry), says: "The kind of event" },
    {
      name: "classification",
      value: receipt.classification,
      says: "The class: the effect of the event on the screen",
    },
    ...optional(
      { name: "tool", says: "The tool that the event is about", ...more("tool", entry.tool) },
      entry.tool,
    ),
    ...optional(
      {
        name: "path",
        says:
          receipt.agent_id === "<operator>"
            ? "The part of the configuration that the operator's action is about"
            : "The path of the state or activity that decided; never a value",
        ...more("path", entry.path),
      },
      entry.path,
    ),
    ...optional(
      { name: "target", says: "The component that the event targets" },
      targetName(entry),
    ),
    {
      name: "allowed",
      value: String(receipt.allowed),
      says: receipt.allowed ? "The gateway forwarded the event" : "The gateway blocked the event",
    },
    ...optional({ name: "denial_reason", says: "The reason", isLong: true }, receipt.denial_reason),
    ...optional(
      {
        name: "rule",
        says: receipt.allowed
          ? "The rule that the event violates"
          : "The rule that blocked the event",
        ...more("rule", entry.rule),
      },
      entry.rule,
    ),
    ...optional(
      { name: "further_rules", says: "Other rules that the event violates", isLong: true },
      entry.further_rules?.join(", "),
    ),
    {
      name: "mode",
      value: entry.mode,
      says:
        entry.mode === "observe"
          ? "The gateway forwards violations"
          : "The gateway blocks violations",
    },
    {
      name: "policy_hash",
      value: entry.policy_hash,
      says: "The hash of the policy",
      isLong: true,
    },
    {
      name: "capability_id",
      value: receipt.capability_id,
      says:
        receipt.capability_id === "<none>"
          ? "No token was used"
          : "The id of the token that was used",
    },
    { name: "transport", value: receipt.transport, says: "The transport" },
    {
      name: "payload_hash",
      value: receipt.payload_hash,
      says: "SHA-256 of the event's canonical JSON; the log never keeps the event itself",
      isLong: true,
    },
    ...optional(
      {
        name: "emitted_hash",
        says: "SHA-256 of the forwarded event, if the gateway changed it",
        isLong: true,
      },
      entry.emitted_hash,
    ),
    {
      name: "kernel_key",
      value: receipt.kernel_key,
      says: "The public key for the signature",
      isLong: true,
    },
    {
      name: "signature",
      value: receipt.signature,
      says: "Ed25519 over the canonical JSON of the receipt without this member",
      isLong: true,
    },
  ];
}

function more(name: string, value: string | undefined): { more?: Record<string, string> } {
  return value === undefined ? {} : { more: { [name]: value } };
}
