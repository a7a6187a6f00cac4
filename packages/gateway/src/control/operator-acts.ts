import { canonicalJson, isCountersignError } from "@countersign/core";
import type { Classification } from "@countersign/core";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { OPERATOR_STOP_RULE } from "@countersign/policy";
import { NO_CAPABILITY } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import { boundedName } from "../event/client-identity.js";
import type { StoppedRun } from "../sessions/orders.js";
import type { LoginMethod } from "./operators/operator-sessions.js";
import type { OwnRuleId } from "../event/own-rules.js";
import type { GatewayContext } from "../runs/gateway-context.js";

/** Operator actions that an auditor must find in the log. */
export type OperatorAct =
  | { readonly act: "policy-reload" }
  | {
      readonly act: "policy-apply" | "policy-rollback" | "policy-mode";
      /** The policy after the change; the receipt has it as its `policy_hash`. */
      readonly hash: string;
      readonly comment?: string;
    }
  | {
      readonly act: "capability-issue";
      readonly capability: string;
      readonly agent: string;
      readonly session?: string;
      readonly principal?: string;
    }
  | {
      readonly act: "capability-attach";
      readonly capability: string;
      readonly session: string;
      readonly principal?: string;
    }
  | { readonly act: "capability-revoke"; readonly capability: string }
  | {
      /** Kept payloads were read: those of a run, or that of one entry. */
      readonly act: "evidence-read";
      readonly session?: string;
      readonly run?: string;
      readonly entry?: number;
    }
  | { readonly act: "agent-contain" | "agent-resume"; readonly agent: string };

/** The operator who acts. */
export type ActingOperator = {
  readonly name: string;
  /** How the operator logged in; absent for an order of another gateway and for the gateway's own files and signals. */
  readonly method?: LoginMethod;
};

/** Signs receipts for operator actions. */
export type OperatorActs = {
  /** The name of the operator in the receipts. */
  readonly operator: string;
  /** Signs a receipt, or throws: for actions that must not happen without one. */
  record(act: OperatorAct): Promise<string>;
  /** Signs a receipt for a completed action, which an unavailable log does not undo; resolves with `undefined` then. */
  note(act: OperatorAct): Promise<string | undefined>;
  /** Signs a receipt for each run that the operator ended; resolves with whether the log has them. */
  recordStopped(stopped: readonly StoppedRun[]): Promise<boolean>;
};

type RecordingContext = Pick<
  GatewayContext,
  "recorder" | "policy" | "clock" | "mintId" | "journal"
>;

/** The rule by which a replay recognises such a receipt. */
const STOP_RULE: OwnRuleId & typeof OPERATOR_STOP_RULE = "gateway/operator-stop";
const CLASSES: Readonly<Record<OperatorAct["act"], Classification>> = {
  "policy-reload": "mutate",
  "policy-apply": "mutate",
  "policy-rollback": "mutate",
  "policy-mode": "mutate",
  "capability-issue": "create",
  "capability-attach": "mutate",
  "capability-revoke": "destroy",
  "evidence-read": "display",
  "agent-contain": "destroy",
  "agent-resume": "mutate",
};

/**
 * Signs under the name of an operator. Operator actions are receipts like any other, in the same
 * log (docs/decisions/2026-11-16-operator-acts.md): `target` names the operator, `event_type` the action. Peers
 * control both fields in their own events, so `agent_id` tells actions from imitations. The agent that an action is
 * about is in its payload, and as a pointer into the configuration in the `path` of its entry.
 */
export function createOperatorActs(
  context: RecordingContext,
  { name: operator, method }: ActingOperator,
): OperatorActs {
  const by = method === undefined ? { operator } : { operator, method };
  const target = { component_type: "operator", component_id: operator };
  const common = (): Pick<EntryDraft, "policy_hash" | "mode" | "received_at"> => ({
    policy_hash: context.policy().hash,
    mode: "enforce",
    received_at: context.clock.now(),
  });
  const timestamp = (): number => Math.floor(context.clock.now() / 1000);

  const draftOf = (act: OperatorAct): EntryDraft => ({
    ...common(),
    ...("hash" in act ? { policy_hash: act.hash } : {}),
    ...("agent" in act ? { path: agentPointer(act.agent) } : {}),
    direction: "inbound",
    receipt: {
      timestamp: timestamp(),
      event_id: context.mintId("event"),
      agent_id: OPERATOR_AGENT,
      ...("session" in act && act.session !== undefined ? { session_id: act.session } : {}),
      capability_id: "capability" in act ? act.capability : NO_CAPABILITY,
      event_type: { custom: `operator.${act.act}` },
      target,
      classification: CLASSES[act.act],
      transport: "sse",
      allowed: true,
    },
    payload_text: canonicalJson({ ...act, ...by }),
  });

  const stopOf = ({ agent, run, session, thread, client = {} }: StoppedRun): EntryDraft => ({
    ...common(),
    direction: "outbound",
    run_id: run,
    ...(thread === undefined ? {} : { thread_id: thread }),
    ...(client.principal === undefined ? {} : { principal: client.principal }),
    ...(client.client_address === undefined ? {} : { client_address: client.client_address }),
    rule: STOP_RULE,
    receipt: {
      timestamp: timestamp(),
      event_id: context.mintId("event"),
      agent_id: agent ?? OPERATOR_AGENT,
      session_id: session,
      capability_id: NO_CAPABILITY,
      event_type: "lifecycle",
      target,
      classification: "destroy",
      transport: "sse",
      allowed: false,
      denial_reason: `stopped by operator ${operator}`,
    },
    payload_text: canonicalJson({ act: "stop", ...by, run, session }),
  });

  const append = async (drafts: readonly EntryDraft[]): Promise<string> => {
    const [recorded] = await context.recorder.appendAll(drafts);
    if (recorded === undefined) throw new TypeError("the log answered without an entry");
    return recorded.id;
  };
  const tryAppend = async (
    act: string,
    drafts: readonly EntryDraft[],
  ): Promise<string | undefined> => {
    try {
      return await append(drafts);
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      context.journal.error(
        { code: error.code, act, operator },
        "an action of an operator has no receipt",
      );
      return undefined;
    }
  };
  return {
    operator,
    record: (act) => append([draftOf(act)]),
    note: (act) => tryAppend(act.act, [draftOf(act)]),
    recordStopped: async (stopped) =>
      stopped.length === 0 || (await tryAppend("stop", stopped.map(stopOf))) !== undefined,
  };
}

/** The agent as a JSON Pointer into `countersign.yaml`. */
function agentPointer(agent: string): string {
  return boundedName(`/agents/${agent.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}
