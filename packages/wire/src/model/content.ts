import type { JsonValue } from "@countersign/core";

/** Bytes carried inline, base64. */
export type DataSource = { type: "data"; value: string; mimeType: string };
/** Bytes behind an address. */
export type UrlSource = { type: "url"; value: string; mimeType?: string };
/** A provider's handle. Only that provider may fetch or parse it. */
export type FileSource = { type: "file"; value: string; provider?: string; mimeType?: string };
/** The source of a media part's bytes. */
export type PartSource = DataSource | UrlSource | FileSource;

/** A run of text inside multi-part content. */
export type TextPart = { type: "text"; text: string; id?: string; metadata?: JsonValue };
type MediaPart<Kind extends string> = {
  type: Kind;
  source: PartSource;
  id?: string;
  metadata?: JsonValue;
};
/** An image. */
export type ImagePart = MediaPart<"image">;
/** A sound. */
export type AudioPart = MediaPart<"audio">;
/** A film. */
export type VideoPart = MediaPart<"video">;
/** A document such as a PDF. */
export type DocumentPart = MediaPart<"document">;
/** One element of multi-part content. */
export type ContentPart = TextPart | ImagePart | AudioPart | VideoPart | DocumentPart;
