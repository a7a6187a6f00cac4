/** The closed lists of the format, by what they name. */
export const CLOSED_LISTS = {
  status: new Set(["draft", "experimental", "stable", "deprecated"]),
  severity: new Set(["informational", "low", "medium", "high", "critical"]),
  impact: new Set([
    "behavior_manipulation",
    "data_exfiltration",
    "data_tampering",
    "unauthorized_actions",
    "information_disclosure",
    "credential_theft",
    "service_disruption",
    "privilege_escalation",
  ]),
  category: new Set([
    "capability_poisoning",
    "response_fabrication",
    "context_manipulation",
    "oversight_bypass",
    "temporal_manipulation",
    "availability_disruption",
    "cross_protocol_chain",
  ]),
  relationship: new Set(["primary", "related"]),
  direction: new Set(["request", "response"]),
  extractorType: new Set(["json_path", "regex"]),
  logLevel: new Set(["info", "warn", "error"]),
  method: new Set(["pattern", "expression", "semantic"]),
  intentClass: new Set([
    "prompt_injection",
    "data_exfiltration",
    "privilege_escalation",
    "social_engineering",
    "instruction_override",
  ]),
  tier: new Set(["ingested", "local_action", "boundary_breach"]),
  logic: new Set(["any", "all"]),
  elicitationAction: new Set(["accept", "decline", "cancel"]),
  elicitationMode: new Set(["form", "url"]),
} as const satisfies Record<string, ReadonlySet<string>>;

/** The name of a closed list. */
export type ClosedList = keyof typeof CLOSED_LISTS;

/** Tiers from the mildest to the gravest. */
export const TIERS = ["ingested", "local_action", "boundary_breach"] as const;
