import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { REQUEST_CHECKS } from "@countersign/policy";
import type { CompiledPolicy, RequestCheckName, RequestSettings } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { enforceInput } from "@countersign/wire/enforce";
import type { Removal } from "@countersign/wire/enforce";
import type { Finding } from "./finding.js";
import { pointerTo } from "./finding.js";

/** The parts of a request that AG-UI does not define. */
export type KeyReview = {
  readonly findings: readonly Finding[];
  /** The number of keys and union members that enforcement removes. */
  readonly removed: number;
  /** Whether a key is another spelling of a key that AG-UI defines there: the agent could read either. */
  readonly isAmbiguous: boolean;
};

/**
 * Finds the parts of a request that AG-UI does not define: a key or a union member that one parser drops and another reads.
 *
 * With `strip` the gateway removes such a key, or a content part beside others, and reports it. It refuses the request if the removal would
 * lose a person's words or a known setting: another spelling of a defined key, a message in an unknown role, or a message that would be
 * empty.
 *
 * @param raw the body as received
 * @param translated the same body in AG-UI 1.0
 * @param lostPart the JSON Pointer of a content part that the translation removed
 */
export function reviewKeys(
  raw: JsonValue,
  translated: JsonValue,
  { unknownKeys }: Pick<RequestSettings, "unknownKeys">,
  lostPart?: string,
): KeyReview {
  let removed = lostPart === undefined ? 0 : 1;
  let first = lostPart;
  let respelled: Removal | undefined;
  let unknownRole: Removal | undefined;
  const { input } = enforceInput(translated, (removal) => {
    removed += 1;
    first ??= removal.path;
    if (isOtherSpelling(removal)) respelled ??= removal;
    if (isMessage(removal)) unknownRole ??= removal;
  });
  const findings: Finding[] = [];
  const find = (reason: string, at: string, more: Partial<Finding> = {}): void => {
    const found = { check: "unknown_keys", code: "ERR_INBOUND_UNKNOWN_KEY" } as const;
    findings.push({ ...found, reason, at: at === "" ? undefined : at, ...more });
  };
  if (respelled !== undefined) {
    find("a key is another spelling of one that AG-UI defines", pointerOf(respelled.path), {
      remedy: "spell the key as AG-UI does",
    });
  }
  if (unknownRole !== undefined) {
    find("AG-UI does not define the role of a message", `${pointerOf(unknownRole.path)}/role`, {
      remedy: "send the message in a role that AG-UI defines",
    });
  } else if (isJsonObject(raw)) {
    const index = emptiedMessage(raw["messages"], input.messages);
    if (index !== -1) {
      find(
        "AG-UI does not define any content part of a message",
        pointerTo("messages", index, "content"),
        { remedy: "send the text or the file in a content part that AG-UI defines" },
      );
    }
  }
  // A request of the oldest dialect is one text; its translation keeps nothing else.
  const isText = translated !== raw && isJsonObject(raw) && Object.hasOwn(raw, "message");
  const isMixed = isText && Object.keys(raw).length > 1;
  if (first !== undefined || isMixed) {
    const isReportOnly = unknownKeys === "strip" && !isMixed;
    find("AG-UI does not define a part of the request", pointerOf(first ?? ""), { isReportOnly });
  }
  return { findings, removed, isAmbiguous: respelled !== undefined };
}

/** Checks that read only the ids at the top of a request. */
const OF_IDS: ReadonlySet<RequestCheckName> = new Set(["threads", "runs"]);

/**
 * Whether the agent receives the undefined parts too: if the policy observes and they could evade no enforced check.
 */
export function isSentUnstripped({ isAmbiguous }: KeyReview, policy: CompiledPolicy): boolean {
  if (policy.mode !== "observe" || isAmbiguous) return false;
  return REQUEST_CHECKS.every(
    (check) => OF_IDS.has(check) || policy.request.mode(check) !== "enforce",
  );
}

function isOtherSpelling({ key, defined = [] }: Removal): boolean {
  if (key === undefined || defined.includes(key)) return false;
  const plain = plainOf(key);
  return defined.some((name) => plainOf(name) === plain);
}

function plainOf(key: string): string {
  return key
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/gu, "");
}

const A_MESSAGE = /^\/messages\/\d+$/u;

function isMessage({ kind, path }: Removal): boolean {
  return kind === "unknownMember" && A_MESSAGE.test(path);
}

/** The index of the first message that lost a content part and is empty now, or -1. */
function emptiedMessage(sent: JsonValue | undefined, messages: readonly Message[]): number {
  if (!Array.isArray(sent)) return -1;
  return messages.findIndex(({ content }, index) => {
    const before = (sent[index] as JsonObject | undefined)?.["content"];
    if (!Array.isArray(before) || !Array.isArray(content)) return false;
    return (
      content.length < before.length &&
      content.every((part) => part.type === "text" && part.text.trim() === "")
    );
  });
}

function pointerOf(path: string): string {
  const steps = path.split("/").slice(1);
  return pointerTo(...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)));
}
