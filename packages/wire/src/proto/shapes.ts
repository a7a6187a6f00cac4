import type { ContentPart, PartSource } from "../model/content.js";
import type { Role } from "../model/message.js";

/** Kinds of content part; each is an arm of the same name. */
export const PART_KINDS: readonly ContentPart["type"][] = [
  "text",
  "image",
  "audio",
  "video",
  "document",
];

/** Kinds of source; each is an arm of the same name. */
export const SOURCE_KINDS: readonly PartSource["type"][] = ["data", "url", "file"];

type ContentField = "content" | "contentParts" | "activityContent";

const TEXT: ReadonlySet<string> = new Set<ContentField>(["content"]);
const TEXT_OR_PARTS: ReadonlySet<string> = new Set<ContentField>(["content", "contentParts"]);
const OBJECT: ReadonlySet<string> = new Set<ContentField>(["activityContent"]);

const BY_ROLE: Record<Role, ReadonlySet<string>> = {
  developer: TEXT,
  system: TEXT,
  assistant: TEXT,
  user: TEXT_OR_PARTS,
  tool: TEXT_OR_PARTS,
  activity: OBJECT,
  reasoning: TEXT,
};

/** The protobuf fields in which a message of each role may carry its content. */
export const CONTENT_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(BY_ROLE),
);
