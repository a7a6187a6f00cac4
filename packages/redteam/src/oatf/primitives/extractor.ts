import type { JsonValue } from "@countersign/core";
import type { EvaluationError } from "../evaluate/evaluation-error.js";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { isDeeperThan, plainText } from "../json/values.js";
import { evaluateJsonPath } from "../jsonpath/evaluate.js";
import { compileJsonPath } from "../jsonpath/parse.js";
import { MAX_MESSAGE_DEPTH } from "../limits.js";
import type { Direction, Extractor } from "../model/document.js";
import { requireRegex } from "../regex/compile.js";

/**
 * The text an extractor takes out of a message, `undefined` when it takes none (which is not the empty
 * text). Objects and lists become compact JSON; of several nodes the first counts.
 */
export function evaluateExtractor(
  extractor: Extractor,
  message: JsonValue,
  direction: Direction,
  options: { readonly onError?: (error: EvaluationError) => void } = {},
): string | undefined {
  if (extractor.source !== direction) return undefined;
  try {
    if (isDeeperThan(message, MAX_MESSAGE_DEPTH)) {
      throw new EvaluationFailure("path_resolution", "the message is nested too deeply");
    }
    if (extractor.type === "json_path") return firstNode(extractor.selector, message);
    if (extractor.type === "regex") {
      return requireRegex(extractor.selector).find(plainText(message))?.group;
    }
    throw new EvaluationFailure("unsupported_method", "extractors are json_path or regex");
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    options.onError?.(error.toError());
    return undefined;
  }
}

function firstNode(selector: string, message: JsonValue): string | undefined {
  const { query, problem } = compileJsonPath(selector);
  if (query === undefined) throw new EvaluationFailure("path_resolution", problem);
  for (const node of evaluateJsonPath(query, message)) return plainText(node);
  return undefined;
}
