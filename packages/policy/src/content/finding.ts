/** What text can carry that a person did not ask to see; each is a key of `ag_ui_content`. */
export type ContentKind =
  | "images"
  | "links"
  | "markup"
  | "hidden"
  | "words"
  | "max_characters"
  | "sources";
