export { acceptsProto, PROTO_MEDIA_TYPE } from "./accept.js";
export type { AcceptsProtoOptions } from "./accept.js";
export { createProtoDecoder } from "./decode.js";
export type { ProtoDecoder, ProtoDecoderOptions } from "./decode.js";
export { encodeProto } from "./encode.js";
export type { ProtoEncodeOptions } from "./encode.js";
export type { ProtoErrorCode } from "./errors.js";
export type { ProtoNote, ProtoNoteSink } from "./note.js";
