import { encodeSse } from "../sse/encode.js";
import type { TextFrameStyle } from "./decode.js";

/**
 * One text frame around a JSON text, bare by default.
 *
 * @throws CountersignError `ERR_SSE_FIELD` when an SSE frame would have to carry a raw CR
 */
export function encodeTextFrame(json: string, style: TextFrameStyle = "json"): string {
  return style === "json" ? json : encodeSse(json);
}
