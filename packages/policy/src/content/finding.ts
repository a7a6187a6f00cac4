/** What text can carry that a person did not ask to see; each is a key of `ag_ui_content`. */
export const CONTENT_KINDS = [
  "images",
  "links",
  "markup",
  "hidden",
  "words",
  "max_characters",
  "sources",
] as const;

/** One of them. */
export type ContentKind = (typeof CONTENT_KINDS)[number];
