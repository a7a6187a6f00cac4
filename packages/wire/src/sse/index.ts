export { createSseDecoder } from "./decode.js";
export type { SseDecoder, SseDecoderOptions } from "./decode.js";
export { encodeSse, encodeSseComment, encodeSseEvent } from "./encode.js";
export type { SseEncodeOptions } from "./encode.js";
export { classifySseData, isDoneMarker, isEmptyData, isPingObject } from "./message.js";
export type { SseDataKind, SseMessage } from "./message.js";
