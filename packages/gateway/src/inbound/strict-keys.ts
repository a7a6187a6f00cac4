import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { REQUEST_CHECKS } from "@countersign/policy";
import type { CompiledPolicy, RequestCheckName, RequestSettings } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { enforceInput } from "@countersign/wire/enforce";
import type { Removal } from "@countersign/wire/enforce";
import type { Finding } from "./finding.js";
import { pointerTo } from "./pointer.js";

/** What AG-UI does not define in a request. */
export type KeyReview = {
  readonly findings: readonly Finding[];
  /** Keys and members of unions that enforcement removes. */
  readonly removed: number;
  /** Whether a key is another spelling of one that AG-UI defines in its place: an agent could obey either. */
  readonly isAmbiguous: boolean;
};

/**
 * Finds what AG-UI does not define in a request: a key or a member of a union that one reader drops and
 * another obeys.
 *
 * With `strip` a key, and a content part beside others, is removed with a remark. Everything that could take a
 * person's words or a known setting away with it is a finding all the same: another spelling of a defined key, a
 * message in an unknown role, a message of which nothing is left.
 *
 * @param raw the body as it came
 * @param translated the same in the names of AG-UI 1.0
 * @param lostPart where a content part stood that the translation removed
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
    const place = at === "" ? {} : { at };
    findings.push({
      check: "unknown_keys",
      code: "ERR_INBOUND_UNKNOWN_KEY",
      reason,
      ...place,
      ...more,
    });
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
  // The oldest dialect's request is one text; its translation takes nothing else along.
  const isText = translated !== raw && isJsonObject(raw) && Object.hasOwn(raw, "message");
  const isMixed = isText && Object.keys(raw).length > 1;
  if (first !== undefined || isMixed) {
    const isRemark = unknownKeys === "strip" && !isMixed;
    find(
      "AG-UI does not define a part of the request",
      pointerOf(first ?? ""),
      isRemark ? { isRemark } : {},
    );
  }
  return { findings, removed, isAmbiguous: respelled !== undefined };
}

/** Checks that look at no key but the ids at the top of a request. */
const OF_IDS: ReadonlySet<RequestCheckName> = new Set(["threads", "runs"]);

/**
 * Whether the agent gets a request with what AG-UI does not define, as it would without a gateway: under a policy that
 * observes, unless a check is enforced that such a part could evade.
 */
export function isSentAsItCame({ isAmbiguous }: KeyReview, policy: CompiledPolicy): boolean {
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

/** The first message that lost a content part and has nothing left to read, or -1. */
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
