import { concatBytes, parseJson } from "@countersign/core";
import { readDetails } from "../base/problem-details.js";
import type { Refusal } from "../base/problem-details.js";
import { stringMember } from "../base/string-member.js";

/** Longest problem document that is read. */
const MAX_BYTES = 65_536;

/** How long a document may take: a server that drips it must not hold up the next attempt. */
const MAX_MS = 5000;

/** The problem document in an answer; without a usable one, nothing, and the body is let go. */
export async function readRefusal(response: Response): Promise<Refusal | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return undefined;
  const letGo = (): void => void reader.cancel().catch(() => {});
  const timer = setTimeout(letGo, MAX_MS);
  try {
    const type = response.headers.get("content-type") ?? "";
    if (response.status < 400 || !/^application\/problem\+json\s*(?:;|$)/i.test(type)) {
      return undefined;
    }
    const chunks: Uint8Array[] = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_BYTES) return undefined;
      chunks.push(value);
    }
    const document = parseJson(concatBytes(...chunks));
    const code = stringMember(document, "code");
    if (!code) return undefined;
    return {
      code,
      message: stringMember(document, "detail") ?? stringMember(document, "title") ?? "",
      ...readDetails(document),
    };
  } catch {
    // Torn, hung up by us or no JSON: the status alone tells what happened.
    return undefined;
  } finally {
    clearTimeout(timer);
    letGo();
  }
}
