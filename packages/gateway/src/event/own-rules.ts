import type { RequestCheckName, RuleMeaning } from "@countersign/policy";

/**
 * The meaning of each rule that the gateway enforces under every policy: first the rules about events, in the order in which
 * outbound/decide/rules.ts evaluates them, then those of operators and of the request path. docs/policy/rules.md and
 * `countersign policy explain` print the same table.
 */
export const OWN_RULES = {
  "gateway/run-limit": {
    means:
      "the run reached a limit: its time, its events, its bytes, or the time without an event; the reason names the code",
    remedy:
      "see why the agent does not finish; `limits.run_timeout`, `run_silence`, `run_events` and `run_bytes` in `countersign.yaml` set the limits",
    opening: {
      config:
        "limits: { run_timeout: 259200, run_silence: 7200, run_events: 10000000, run_bytes: 10737418240 }",
    },
  },
  "gateway/invalid": {
    means: "something could not be read as an event or as a request; the reason names the code",
    remedy:
      "look the code up: `countersign policy explain CODE`; `countersign doctor URL` shows the agent's own",
    opening: { closed: "an event or a request that cannot be read cannot be judged" },
  },
  "gateway/order": {
    means: "an event breaks a rule that the official client checks, so the run ends",
    remedy: "fix the agent; `countersign doctor URL` names the rule and the event",
    opening: {
      closed:
        "the official client throws at such a stream, so delivering it would end the run as well",
    },
  },
  "gateway/known-call": {
    means:
      "the agent opens a tool call of an earlier run or of the history again; a client would append to what was read",
    remedy: "give a new call a new id; the result of the old one may still come",
    opening: { closed: "a client would append new arguments to those the person has read" },
  },
  "gateway/message-role": {
    means:
      "an event would write into a message that is known in another role, or a tool call without a parent has the id of a message",
    remedy: "give every new message and every call an id of its own",
    opening: {
      closed:
        "the event would change what another role said, or the client would have two messages of one id",
    },
  },
  "gateway/rewritten": {
    means:
      "a message list or a result changes or leaves out what the person or the application said or answered; the original stays",
    remedy: "have the agent repeat messages as it got them, all of them, under their ids",
    opening: {
      closed:
        "the history is what the person and the application said; no policy lets an agent change it",
    },
  },
  "gateway/reopened": {
    means:
      "the agent appends text to a message of which the gateway does not know exactly what the client has: one of an earlier run that the request does not repeat, or one that existed before a message list or that an echoed input brought",
    remedy:
      "give new text a message id of its own, send the whole message in a `MESSAGES_SNAPSHOT`, or have the client send the history",
    opening: {
      closed:
        "the gateway does not know what the client has of the text, so it cannot judge what it becomes",
    },
  },
  "gateway/role": {
    means: "the agent speaks as `system`, `developer` or `user`: text in the person's place",
    remedy: "have the agent send its text in the role of `assistant`",
    opening: {
      closed:
        "text in the role of the person or of the system would be taken for theirs by the person and by the model",
    },
  },
  "gateway/result": {
    means:
      "the agent answers a call of a tool that the client advertised, which only the client can",
    remedy:
      "wait for the client's `tool` message, or set `ag_ui_tools.allow_agent_results: true` where the agent may answer",
    opening: { policy: "ag_ui_tools: { allow_agent_results: true }" },
  },
  "gateway/prototype": {
    means:
      "a state, an activity or a custom event has a member `__proto__`, or `prototype` within `constructor`: merging it could change every object of the page",
    remedy: "have the agent use other names for these members; as values the words pass",
    opening: { closed: "merging such a member can change every object of the page" },
  },
  "gateway/raw": {
    means: "a `RAW` event came while something is withheld on the thread, which it could repeat",
    remedy:
      "have the agent send no `RAW` events, or open what is withheld: its receipts name the rules",
    opening: {
      closed:
        "a RAW event could repeat what is withheld; open what is withheld instead, and RAW events pass again on new threads",
    },
  },
  "gateway/encrypted-size": {
    means:
      "an encrypted value (reasoning or a signature, by itself or on a listed message or call) is longer than the limit",
    remedy:
      "have the agent send shorter values, or raise `limits.encrypted_value_bytes` in `countersign.yaml`",
    opening: { config: "limits: { encrypted_value_bytes: 4194304 }" },
  },
  "gateway/approval": {
    means:
      "after the person answered, the agent makes another call than they were shown, one that they declined, a second one, or one whose arguments the gateway cannot read",
    remedy:
      "call the tool with the name and arguments of the question, once; ask again for anything else (`ag_ui_request.approval` sets the mode)",
    opening: { policy: "ag_ui_request: { approval: { mode: observe } }" },
  },
  "gateway/renamed": {
    means: "a message list repeats a tool call under another name",
    remedy: "repeat calls as they were made",
    opening: { closed: "the person judged the call by its first name" },
  },
  "gateway/withheld": {
    means:
      "a run ended with questions to the person all of which are withheld, so the person cannot answer",
    remedy:
      "open the interrupts or the calls that they are about (`ag_ui_classify.interrupts`, `tools`), or hand the session a token for them",
    opening: {
      policy: "ag_ui_classify: { interrupts: [{ match: REASON, classification: display }] }",
    },
  },
  "gateway/reserved-name": {
    means: "a custom event has a name that begins with `countersign.`, or looks as if",
    remedy: "use a prefix of your own; `countersign.ui_render_hint` is the exception",
    opening: { closed: "only the gateway speaks under this prefix: a page trusts it" },
  },
  "gateway/unsound": {
    means:
      "an event is in order for the agent but not in what is left for the person: its client would throw",
    remedy:
      "look at what was withheld before it in the same run (`countersign receipts list --run RUN --blocked`), and open that",
    opening: { closed: "the client would throw; open what was withheld before this event" },
  },
  "gateway/held": {
    means:
      "a tool call was held until its arguments are whole, for a schema, a condition or an approval, and the stream ended first",
    remedy: "look why the agent's stream broke off; `TOOL_CALL_END` was missing",
    opening: { closed: "the rule waits for the whole call, and the stream ended before it came" },
  },
  "gateway/operator-stop": {
    means: "an operator ended the run through the control plane; the reason names the admin token",
    remedy: "ask the operator; the person may ask again",
    opening: { closed: "an operator ended the run" },
  },
  "gateway/one-way": {
    means:
      "a browser's message is for an agent that is asked by a request and takes none while it answers",
    remedy: "send it with the next request, or connect the agent over `ws:`",
    opening: { config: 'agents: { NAME: { url: "ws://127.0.0.1:8000/", transport: websocket } }' },
  },
  "gateway/no-run": {
    means:
      "a browser's message came on a socket without a run, or its run ended before it could be sent up",
    remedy: "send the input first, and messages while its run is open",
    opening: { closed: "a message needs a run that is open" },
  },
} as const satisfies Readonly<Record<string, RuleMeaning>>;

/** The id of a rule in {@link OWN_RULES}. */
export type OwnRuleId = keyof typeof OWN_RULES;

/** The checks of `ag_ui_request`. A receipt names them `ag_ui_request.<check>`. */
export const REQUEST_RULES: Readonly<Record<RequestCheckName, RuleMeaning>> = {
  unknown_keys: {
    means:
      "the request has a key or a content part that AG-UI does not define; on an allowed request the gateway removed it before the agent received the request, unless the policy observes",
    remedy:
      "put own data into `forwardedProps`, `state` or `metadata`; `unknown_keys.action` chooses between `strip` and `refuse`",
    opening: { policy: "ag_ui_request: { unknown_keys: { action: strip } }" },
  },
  threads: {
    means: "the thread belongs to another principal",
    remedy: "use a thread of one's own; thread ids should be random",
    opening: { policy: "ag_ui_request: { threads: { mode: observe } }" },
  },
  runs: {
    means: "the run id was used before, or the thread has a run open",
    remedy: "take a fresh run id, and wait for the end of the run before",
    opening: { policy: "ag_ui_request: { runs: { mode: observe } }" },
  },
  history: {
    means: "the messages are not those that were delivered and accepted on the thread",
    remedy:
      "send the history back as it came, its end without a gap, or only what is new (`ag_ui_request.history`)",
    opening: { policy: "ag_ui_request: { history: { mode: observe } }" },
  },
  tool_results: {
    means:
      "an answer to a call that was not delivered here, is the agent's own, or was answered before",
    remedy: "declare the tool in the run that calls it, and answer each call once, under its id",
    opening: { policy: "ag_ui_request: { tool_results: { mode: observe } }" },
  },
  resume: {
    means:
      "the answers are not those to the interrupts that are open: all of them, in time and in form",
    remedy: "answer or cancel every interrupt of the latest `RUN_FINISHED`",
    opening: { policy: "ag_ui_request: { resume: { mode: observe } }" },
  },
  approval: {
    means: "see `gateway/approval`",
    remedy: "see `gateway/approval`",
    opening: { policy: "ag_ui_request: { approval: { mode: observe } }" },
  },
  tools: {
    means: "a declared tool has a name that is not plain, is the agent's own, or is not pinned",
    remedy: "rename the tool, or pin its hash (`ag_ui_request.tools.pinned`)",
    opening: { policy: "ag_ui_request: { tools: { mode: observe } }" },
  },
  state: {
    means: "the state is too large, or changes a key that the browser may not write",
    remedy: "send back what is the agent's as it came, or list the key: `ag_ui_request.state.keys`",
    opening: {
      policy: `ag_ui_request:
  state:
    keys: [KEY] # only where the policy has this list already
    max_bytes: 1048576 # only where the state is too large`,
    },
  },
  context: {
    means: "the context has too many, too large or unlisted entries",
    remedy: "send less, or widen `ag_ui_request.context`",
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
      "`forwardedProps` has a key that is not listed; agents take users, models and commands from it",
    remedy: "list the key: `ag_ui_request: { forwarded_props: { allow: [KEY] } }`",
    opening: { policy: "ag_ui_request: { forwarded_props: { allow: [KEY] } }" },
  },
};
