/** Content that a person did not ask to see; each kind is a key of `ag_ui_content`. */
export type ContentKind =
  | "images"
  | "links"
  | "markup"
  | "hidden"
  | "words"
  | "max_characters"
  | "max_event_characters"
  | "sources"
  | "links_in_errors";

/** A finding and its position. */
export type ContentFinding = {
  readonly kind: ContentKind;
  /** Code units of the text before the one with which it was certain. */
  readonly offset?: number;
  /** Of an event with several texts: the JSON pointer of the one that holds it. */
  readonly part?: string;
};
