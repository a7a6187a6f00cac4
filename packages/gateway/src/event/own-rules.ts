import type { RequestCheckName, RuleMeaning } from "@countersign/policy";

/**
 * The meaning of each rule that the gateway enforces under every policy: first the rules about events, in the order in which
 * outbound/decide/rules.ts evaluates them, then those of operators and of the request path. docs/policy/rules.md and
 * `countersign policy explain` print the same table.
 */
export const OWN_RULES = {
  "gateway/run-limit": {
    means:
      "the run reached a limit of time, events, bytes or time without an event; the reason names the code",
    remedy:
      "find out why the agent does not finish; `limits.run_timeout`, `run_silence`, `run_events` and `run_bytes` in `countersign.yaml` set the limits",
    opening: {
      config:
        "limits: { run_timeout: 259200, run_silence: 7200, run_events: 10000000, run_bytes: 10737418240 }",
    },
  },
  "gateway/invalid": {
    means: "the gateway could not parse an event or a request; the reason names the code",
    remedy:
      "run `countersign policy explain CODE`; `countersign doctor URL` shows invalid events of the agent",
    opening: { closed: "the gateway cannot evaluate an event or a request that it cannot parse" },
  },
  "gateway/order": {
    means:
      "an event breaks a rule that the official AG-UI client checks, so the gateway ends the run",
    remedy: "fix the agent; `countersign doctor URL` names the rule and the event",
    opening: {
      closed:
        "the official AG-UI client throws on such a stream, so forwarding it would end the run as well",
    },
  },
  "gateway/known-call": {
    means:
      "the agent reopens a tool call of an earlier run or of the history, and a client would append to it",
    remedy: "use a new id for a new call; the agent may still send the result of the old call",
    opening: { closed: "a client would append new arguments to those the user has read" },
  },
  "gateway/message-role": {
    means:
      "an event would change a message of another role, or a tool call without a parent has the id of a message",
    remedy: "use a unique id for every new message and every call",
    opening: {
      closed:
        "the event would change a message of another role, or the client would have two messages with one id",
    },
  },
  "gateway/rewritten": {
    means:
      "a message list or a result of the agent changes or leaves out messages or results of the user or the application; the gateway keeps the original",
    remedy: "change the agent to repeat all messages unchanged, with their ids",
    opening: {
      closed:
        "messages of the user and the application belong to them; no policy allows an agent to change them",
    },
  },
  "gateway/reopened": {
    means:
      "the agent appends to a message whose text at the client is unknown to the gateway: one of an earlier run that the request does not repeat, or one from before a message list or from an echoed input",
    remedy:
      "use a new message id for new text, send the whole message in a `MESSAGES_SNAPSHOT`, or change the client to send the history",
    opening: {
      closed: "the gateway does not know the text at the client, so it cannot evaluate the result",
    },
  },
  "gateway/unanswered": {
    means:
      "before the user has answered a question, the agent makes or carries out the call that it asked about, starts another run in the same stream, or asks another question with the same id",
    remedy:
      "end the run with the question and wait for the request with the answer; use a new id for each interrupt (`ag_ui_request.approval` sets the mode)",
    opening: { policy: "ag_ui_request: { approval: { mode: observe } }" },
  },
  "gateway/role": {
    means: "the agent sends text in the role of `system`, `developer` or `user`",
    remedy: "change the agent to send its text in the role of `assistant`",
    opening: {
      closed: "the user and the model would take the text for text of the user or of the system",
    },
  },
  "gateway/result": {
    means:
      "the agent sends the result for a call of a tool that the client advertised, which only the client may do",
    remedy:
      "wait for the client's `tool` message, or set `ag_ui_tools.allow_agent_results: true` if the agent may send the result",
    opening: { policy: "ag_ui_tools: { allow_agent_results: true }" },
  },
  "gateway/prototype": {
    means:
      "a state, an activity or a custom event has a member `__proto__`, or `prototype` within `constructor`; merging it could change every object of the page",
    remedy:
      "change the agent to use other names for these members; the words are allowed as values",
    opening: { closed: "merging such a member can change every object of the page" },
  },
  "gateway/raw": {
    means: "the gateway withholds something on the thread, and a `RAW` event could repeat it",
    remedy:
      "change the agent to send no `RAW` events, or allow the withheld events: their receipts name the rules",
    opening: {
      closed:
        "a RAW event could repeat withheld content; allow the withheld events instead, and the gateway forwards RAW events again on new threads",
    },
  },
  "gateway/encrypted-size": {
    means:
      "an encrypted value (reasoning or a signature, in its own event or in a listed message or call) is longer than the limit",
    remedy:
      "change the agent to send shorter values, or raise `limits.encrypted_value_bytes` in `countersign.yaml`",
    opening: { config: "limits: { encrypted_value_bytes: 4194304 }" },
  },
  "gateway/approval": {
    means:
      "after the user's answer, the agent makes a call that the user did not see or declined, carries out an approved call twice (its result and a new call, or two calls), or makes one whose arguments the gateway cannot parse",
    remedy:
      "send the result of the approved call, or call the tool once with the name and arguments that the user approved; request a new approval for any other call (`ag_ui_request.approval` sets the mode)",
    opening: { policy: "ag_ui_request: { approval: { mode: observe } }" },
  },
  "gateway/renamed": {
    means: "a message list repeats a tool call under another name",
    remedy: "change the agent to repeat calls unchanged",
    opening: { closed: "the user saw the call with its first name" },
  },
  "gateway/withheld": {
    means:
      "the gateway withholds every interrupt and call that the run waits for, so the user cannot answer",
    remedy:
      "allow the interrupts or their tool calls (`ag_ui_classify.interrupts`, `tools`), or issue a token for the session",
    opening: {
      policy: "ag_ui_classify: { interrupts: [{ match: REASON, classification: display }] }",
    },
  },
  "gateway/reserved-name": {
    means: "a custom event has a name that starts with `countersign.` or looks like it",
    remedy: "use your own prefix; only `countersign.ui_render_hint` is allowed",
    opening: { closed: "only the gateway uses this prefix, and pages trust it" },
  },
  "gateway/unsound": {
    means:
      "the event is valid in the agent's stream but not in the forwarded stream, so the client would throw",
    remedy:
      "check the withheld events before it in the same run (`countersign receipts list --run RUN --blocked`), and allow them",
    opening: { closed: "the client would throw; allow the withheld events before this one" },
  },
  "gateway/held": {
    means:
      "the gateway held a tool call to evaluate its complete arguments, and the stream ended before the call was complete",
    remedy: "find out why the agent's stream ended without `TOOL_CALL_END`",
    opening: { closed: "the rule needs the complete call, and the stream ended before it" },
  },
  "gateway/operator-stop": {
    means: "an operator ended the run through the control plane; the reason names the admin token",
    remedy: "contact the operator; the user may start a new run",
    opening: { closed: "an operator ended the run" },
  },
  "gateway/one-way": {
    means:
      "a client sent a message during a run to an agent that is connected over HTTP and accepts none",
    remedy: "send the message with the next request, or connect the agent over `ws:`",
    opening: { config: 'agents: { NAME: { url: "ws://127.0.0.1:8000/", transport: websocket } }' },
  },
  "gateway/no-run": {
    means:
      "a client sent a message on a socket without an open run, or the run ended before the gateway could forward it",
    remedy: "send the input first, and messages while its run is open",
    opening: { closed: "a message needs an open run" },
  },
} as const satisfies Readonly<Record<string, RuleMeaning>>;

/** The id of a rule in {@link OWN_RULES}. */
export type OwnRuleId = keyof typeof OWN_RULES;

/** The checks of `ag_ui_request`. A receipt names them `ag_ui_request.<check>`. */
export const REQUEST_RULES: Readonly<Record<RequestCheckName, RuleMeaning>> = {
  unknown_keys: {
    means:
      "the request has a key or a content part that AG-UI does not define; if the request is allowed, the gateway removes it before the agent receives the request, except in observe mode",
    remedy:
      "put your own data into `forwardedProps`, `state` or `metadata`; `unknown_keys.action` is `strip` or `refuse`",
    opening: { policy: "ag_ui_request: { unknown_keys: { action: strip } }" },
  },
  threads: {
    means: "the thread belongs to another principal",
    remedy: "use a thread of the same principal, or start a new one; thread ids should be random",
    opening: { policy: "ag_ui_request: { threads: { mode: observe } }" },
  },
  runs: {
    means: "the run id was used before, or the thread has an open run",
    remedy: "use a new run id, and wait until the open run ends",
    opening: { policy: "ag_ui_request: { runs: { mode: observe } }" },
  },
  history: {
    means: "the messages differ from those that the gateway forwarded and accepted on the thread",
    remedy:
      "send the history back unchanged, its last part without a gap, or only new messages (`ag_ui_request.history`)",
    opening: { policy: "ag_ui_request: { history: { mode: observe } }" },
  },
  tool_results: {
    means:
      "a tool result for a call that the gateway did not forward, that belongs to the agent, or that already has a result",
    remedy:
      "declare the tool in the run that calls it, and send one result for each call, with its id",
    opening: { policy: "ag_ui_request: { tool_results: { mode: observe } }" },
  },
  resume: {
    means: "`resume` does not answer every open interrupt, in time and with a valid payload",
    remedy: "resolve or cancel every interrupt of the latest `RUN_FINISHED`",
    opening: { policy: "ag_ui_request: { resume: { mode: observe } }" },
  },
  approval: {
    means: "see `gateway/approval`",
    remedy: "see `gateway/approval`",
    opening: { policy: "ag_ui_request: { approval: { mode: observe } }" },
  },
  tools: {
    means: "a declared tool has an invalid name, has the name of an agent's tool, or is not pinned",
    remedy: "rename the tool, or pin its hash (`ag_ui_request.tools.pinned`)",
    opening: { policy: "ag_ui_request: { tools: { mode: observe } }" },
  },
  state: {
    means: "the state is too large, or changes a key that the client may not write",
    remedy: "send the agent's keys back unchanged, or list the key: `ag_ui_request.state.keys`",
    opening: {
      policy: `ag_ui_request:
  state:
    keys: [KEY] # only where the policy has this list already
    max_bytes: 1048576 # only where the state is too large`,
    },
  },
  context: {
    means: "the context has too many, too large or unlisted entries",
    remedy: "send less, or extend `ag_ui_request.context`",
    opening: {
      policy: `ag_ui_request:
  context:
    descriptions: [DESCRIPTION] # only where the policy has this list already
    max_entries: 1000
    max_bytes: 1048576`,
    },
  },
  forwarded_props: {
    means:
      "`forwardedProps` has a key that the policy does not list; agents read users, models and commands from it",
    remedy: "list the key: `ag_ui_request: { forwarded_props: { allow: [KEY] } }`",
    opening: { policy: "ag_ui_request: { forwarded_props: { allow: [KEY] } }" },
  },
  actions: {
    means:
      "a click on an A2UI surface, or a request of an MCP App, that does not match what the thread was shown, or an action that submits for the second time",
    remedy:
      "send clicks only for components that are on the screen of this thread; `ag_ui_request.actions.repeat` lists actions that may be used again",
    opening: { policy: "ag_ui_request: { actions: { mode: observe } }" },
  },
};
