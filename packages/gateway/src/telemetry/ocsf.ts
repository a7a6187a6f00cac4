import type { Classification, FeedItem, JsonObject, JsonValue } from "@countersign/core";
import { isIP } from "node:net";
import { VERSION } from "../base/version.js";

/** The version of the Open Cybersecurity Schema Framework that the events follow. */
const OCSF_VERSION = "1.3.0";

/** One OCSF event; it has names, ids and hashes, and never a payload. */
export type OcsfEvent = JsonObject;

/** The gateway that reports. */
export type OcsfSource = {
  /** The name of this gateway in its fleet. */
  readonly gateway: string;
  /** The origin of its receipt log. */
  readonly log: string;
};

/** A condition of a gateway that an operator wants to know about. */
export type Condition = {
  readonly name: string;
  readonly title: string;
  readonly isCritical?: boolean;
};

const PRODUCT = { name: "Countersign", vendor_name: "Countersign", version: VERSION };
const ACTIVITIES = { create: 1, close: 3, start: 3, stop: 4 } as const;
const SEVERITIES = { informational: 1, low: 2, medium: 3, high: 4, critical: 5 } as const;
/** Severity of a blocked event: the more it could change, the higher. */
const SEVERITY_OF_CLASS: Readonly<Record<Classification, keyof typeof SEVERITIES>> = {
  display: "low",
  alert: "low",
  mutate: "medium",
  create: "medium",
  navigate: "medium",
  destroy: "high",
  submit: "high",
};

/** A Detection Finding (2004) for an event that a rule blocked, or would block in observe mode. */
export function denialEvent(item: FeedItem, source: OcsfSource): OcsfEvent {
  const { rule = "input", denial_reason: reason = "", receipt_id: receipt } = item;
  const verb = item.allowed ? "would block" : "blocked";
  return {
    ...classOf("finding", "create"),
    ...severityOf(SEVERITY_OF_CLASS[item.classification]),
    time: item.received_at,
    message: `${rule} ${verb} ${item.event_type}: ${reason}`,
    metadata: {
      ...metadataOf(source, ["security_control"]),
      uid: receipt,
      sequence: item.seq,
      correlation_uid: item.run_id,
    },
    status_id: 1,
    status: "New",
    ...(item.allowed
      ? { action_id: 1, action: "Allowed", disposition_id: 17, disposition: "Logged" }
      : { action_id: 2, action: "Denied", disposition_id: 2, disposition: "Blocked" }),
    finding_info: {
      title: `${rule} ${verb} an event`,
      uid: receipt,
      desc: reason,
      created_time: item.received_at,
      types: ["policy decision"],
      analytic: { name: rule, uid: rule, type: "Rule", type_id: 1 },
    },
    resources: resourcesOf(item),
    evidences: [evidenceOf(item)],
    unmapped: unmappedOf(item),
  };
}

function resourcesOf({ agent_id: agent, tool, target }: FeedItem): JsonValue[] {
  return [
    { type: "agent", name: agent, uid: agent },
    ...(tool === undefined ? [] : [{ type: "tool", name: tool, uid: tool }]),
    ...(target === undefined
      ? []
      : [{ type: "component", name: target.component_type, uid: target.component_id ?? "" }]),
  ];
}

function evidenceOf(item: FeedItem): JsonObject {
  const { principal, client_address: address } = item;
  return {
    actor: {
      session: { uid: item.session_id },
      ...(principal === undefined ? {} : { user: { uid: principal } }),
    },
    // A hashed address is no IP address.
    ...(address === undefined
      ? {}
      : { src_endpoint: isIP(address) === 0 ? { uid: address } : { ip: address } }),
    api: { operation: item.event_type, service: { name: item.agent_id } },
  };
}

/** The same names as in the log, the API and the command line. */
function unmappedOf(item: FeedItem): JsonObject {
  return {
    thread_id: item.thread_id,
    run_id: item.run_id,
    event_type: item.event_type,
    classification: item.classification,
    direction: item.direction,
    mode: item.mode,
    ...(item.path === undefined ? {} : { path: item.path }),
    ...(item.further_rules === undefined ? {} : { further_rules: [...item.further_rules] }),
  };
}

/** A Detection Finding (2004) that opens when a condition begins and closes when it ends. */
export function conditionEvent(
  condition: Condition,
  times: { readonly since: number; readonly endedAt?: number | undefined },
  source: OcsfSource,
): OcsfEvent {
  const { since, endedAt } = times;
  const isOpen = endedAt === undefined;
  const { name, title } = condition;
  return {
    ...classOf("finding", isOpen ? "create" : "close"),
    ...severityOf(isOpen ? (condition.isCritical === true ? "critical" : "high") : "informational"),
    time: endedAt ?? since,
    message: isOpen ? title : `${title}: ended`,
    metadata: metadataOf(source, []),
    ...(isOpen ? { status_id: 1, status: "New" } : { status_id: 4, status: "Resolved" }),
    finding_info: {
      title,
      uid: `${source.gateway}/${name}/${since}`,
      created_time: since,
      types: ["health"],
      analytic: { name, uid: name, type: "Rule", type_id: 1 },
    },
    resources: [{ type: "gateway", name: source.gateway, uid: source.gateway }],
  };
}

/** An Application Lifecycle event (6002) for the start or the stop of a gateway. */
export function lifecycleEvent(
  activity: "start" | "stop",
  at: number,
  source: OcsfSource,
): OcsfEvent {
  return {
    ...classOf("lifecycle", activity),
    ...severityOf("informational"),
    time: at,
    message: activity === "start" ? "the gateway started" : "the gateway stops",
    metadata: metadataOf(source, []),
    app: { ...PRODUCT, uid: source.gateway },
  };
}

const CLASSES = {
  finding: {
    category_uid: 2,
    category_name: "Findings",
    class_uid: 2004,
    class_name: "Detection Finding",
  },
  lifecycle: {
    category_uid: 6,
    category_name: "Application Activity",
    class_uid: 6002,
    class_name: "Application Lifecycle",
  },
} as const;

function classOf(name: keyof typeof CLASSES, activity: keyof typeof ACTIVITIES): JsonObject {
  const described = CLASSES[name];
  const id = ACTIVITIES[activity];
  const activityName = capitalized(activity);
  return {
    activity_id: id,
    activity_name: activityName,
    ...described,
    type_uid: described.class_uid * 100 + id,
    type_name: `${described.class_name}: ${activityName}`,
  };
}

function severityOf(name: keyof typeof SEVERITIES): JsonObject {
  return { severity_id: SEVERITIES[name], severity: capitalized(name) };
}

function metadataOf(source: OcsfSource, profiles: readonly string[]): JsonObject {
  return {
    version: OCSF_VERSION,
    product: PRODUCT,
    log_name: source.log,
    log_provider: source.gateway,
    ...(profiles.length === 0 ? {} : { profiles: [...profiles] }),
  };
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
