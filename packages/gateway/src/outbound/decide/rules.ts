import {
  answersForClient,
  breaksOrder,
  exceedsRunLimit,
  followsQuestion,
  hasLongEncryptedValue,
  isInvalid,
  isOfWithheldUnit,
  isRawBesideWithheld,
  losesWords,
  reachesPrototype,
  reusesQuestionId,
  speaksAsOther,
} from "./event-checks.js";
import {
  hasNothingLeft,
  hasReceiptName,
  hasReservedName,
  isUnsound,
  nativeFormPolicy,
  neverEnded,
  removalPolicy,
} from "./form-checks.js";
import {
  callIntoForeign,
  callOpenedAgain,
  intoOtherRole,
  otherAnswer,
  reopens,
} from "./intrusion.js";
import {
  attachedPolicy,
  listedPolicy,
  changesOriginal,
  changesRecord,
  isLeftOut,
  isOtherCall,
  isRenamed,
  ownerPolicy,
  unknownPolicy,
} from "./list-checks.js";
import { actsUnanswered, differsFromApproved, eventPolicy } from "./policy-checks.js";
import { rule, step } from "./rule.js";
import type { Effect, Moment } from "./rule.js";

const DROP: Effect = { onBlock: "drop" };
const END: Effect = { onBlock: "end" };
const ALWAYS: Effect = { mode: "enforce" };
const ALWAYS_DROP: Effect = { onBlock: "drop", mode: "enforce" };
const ALWAYS_END: Effect = { onBlock: "end", mode: "enforce" };
const ORDER: Effect = { ...ALWAYS_END, reasonCode: "order_violation" };
const APPROVAL: Effect = { mode: "approval" };

const CALL_INTO_FOREIGN = rule(
  "gateway/message-role",
  "a tool call in a message of another role, or with the id of another message",
  callIntoForeign,
);
const INTO_MESSAGE = [
  rule("gateway/message-role", "an event for a message of another role", intoOtherRole),
  rule("gateway/rewritten", "another result with the id of the user's answer", otherAnswer),
];
const BY_AGENT = [
  rule("gateway/role", "a text in another role than assistant", speaksAsOther),
  rule("gateway/result", "a result of a tool that only the client answers", answersForClient),
  rule("gateway/prototype", "a member `__proto__` or `constructor.prototype`", reachesPrototype),
];
const ENCRYPTED = rule("gateway/encrypted-size", "a long encrypted value", hasLongEncryptedValue);

/**
 * Every rule by which the gateway can block an event. The rules of one moment are in the order of their evaluation. Four files evaluate
 * moments: `stage.ts` (an event), `message-judge.ts` (the parts of a message list), `final-rules.ts` (the form that leaves) and
 * `question-gate.ts` (only the order of a run's end, to decide nothing but which calls it asks about). A row `policy` evaluates the policy.
 * No other file decides; docs/policy/rules.md prints this list. After a block that ends the run, or a failed log, the stages drop later events without a decision.
 */
export const RULES = {
  input: {
    when: "the input is not an event",
    rules: [
      rule("gateway/run-limit", "a run beyond one of its limits", exceedsRunLimit, ALWAYS_DROP),
      rule("gateway/invalid", "input that is not a valid event", isInvalid, ALWAYS_DROP),
    ],
  },
  order: {
    when: "an event arrives",
    rules: [rule("gateway/order", "an event that makes the client throw", breaksOrder, ORDER)],
  },
  arrival: {
    when: "the event is not part of a held tool call",
    rules: [
      rule("gateway/known-call", "a complete tool call that is opened again", callOpenedAgain),
      CALL_INTO_FOREIGN,
      ...INTO_MESSAGE,
      rule("gateway/reopened", "text for a message whose text is not known", reopens),
    ],
  },
  release: {
    when: "the arguments of a held tool call are complete",
    rules: [CALL_INTO_FOREIGN],
  },
  event: {
    when: "the event, or the held tool call, is evaluated",
    rules: [
      rule("gateway/unanswered", "a run that follows its question", followsQuestion, APPROVAL),
      rule("gateway/unanswered", "a question with the id of another", reusesQuestionId, APPROVAL),
      step("first rule", "an event of a withheld unit", isOfWithheldUnit),
      ...BY_AGENT,
      rule("gateway/raw", "a RAW event while a unit is withheld", isRawBesideWithheld),
      rule("gateway/rewritten", "a message list without a message of the user", losesWords),
      ENCRYPTED,
      step("policy", "an event that the policy denies", eventPolicy),
    ],
  },
  continued: {
    when: "a delta has only its text new since the event before it, which was delivered whole",
    rules: [
      step("first rule", "an event of a withheld unit", isOfWithheldUnit),
      step("policy", "an event that the policy denies", eventPolicy),
    ],
  },
  permitted: {
    when: "the policy permits a tool call, its result or its subagent",
    rules: [
      rule("gateway/unanswered", "an act that waits for an answer", actsUnanswered, APPROVAL),
      rule("gateway/approval", "another act than the approved one", differsFromApproved, APPROVAL),
    ],
  },
  listedCall: {
    when: "a message list has a tool call",
    rules: [rule("gateway/renamed", "a known tool call with another name", isRenamed, DROP)],
  },
  listedOriginal: {
    when: "a message list has a message of the user or the application",
    rules: [
      rule("gateway/rewritten", "a change of a message of the request", changesOriginal, DROP),
      rule("gateway/rewritten", "a change of a message that only the ledger has", changesRecord),
    ],
  },
  leftOut: {
    when: "a message list leaves out a message of the request",
    rules: [rule("gateway/rewritten", "a missing message of the user", isLeftOut, DROP)],
  },
  listedResult: {
    when: "a message list has a tool result",
    rules: [rule("gateway/rewritten", "a known result for another call", isOtherCall, DROP)],
  },
  listedUnknown: {
    when: "a message list has an unknown message of the user or the application",
    rules: [step("policy", "a message that the policy does not accept", unknownPolicy)],
  },
  listedMessage: {
    when: "a part of a message list is evaluated like the event that streams it",
    rules: INTO_MESSAGE,
  },
  listed: {
    when: "the part is not for a message of another role",
    rules: [...BY_AGENT, step("policy", "a part that the policy denies", listedPolicy)],
  },
  attached: {
    when: "a listed message or tool call has metadata, content parts or an encrypted value",
    rules: [ENCRYPTED, step("policy", "an addition that the policy denies", attachedPolicy)],
  },
  listedOwner: {
    when: "a listed message violates a stream rule",
    rules: [step("policy", "an owner that the policy does not accept", ownerPolicy)],
  },
  emitted: {
    when: "the gateway removed withheld parts from an event",
    rules: [
      rule("gateway/withheld", "an interrupt without any question left", hasNothingLeft, END),
      step("policy", "a message list that now removes more", removalPolicy),
    ],
  },
  delivery: {
    when: "an event is allowed",
    rules: [
      rule(
        "gateway/reserved-name",
        "an agent's event with a receipt's name",
        hasReceiptName,
        ALWAYS,
      ),
      rule("gateway/reserved-name", "another name of the gateway", hasReservedName),
      step("policy", "an event that the policy denies in native form", nativeFormPolicy),
    ],
  },
  sound: {
    when: "the gateway is about to forward an event",
    rules: [rule("gateway/unsound", "an event that makes the client throw", isUnsound, ALWAYS_END)],
  },
  end: {
    when: "the stream ends while a tool call is held",
    rules: [rule("gateway/held", "a tool call without its end", neverEnded, ALWAYS_DROP)],
  },
} as const satisfies Readonly<Record<string, Moment>>;
