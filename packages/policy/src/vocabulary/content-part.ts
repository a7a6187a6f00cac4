/** Texts of a stream that `ag_ui_content.read` can select. */
export const CONTENT_PARTS = [
  "text",
  "reasoning",
  "tool_results",
  "activities",
  "state",
  "questions",
  "custom",
  "results",
  "metadata",
] as const;

/** One of {@link CONTENT_PARTS}. */
export type ContentPart = (typeof CONTENT_PARTS)[number];
