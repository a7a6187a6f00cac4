/** Tools whose arguments a client, or the middleware before it, draws: as A2UI, or as HTML in a sandbox. */
export const RENDERING_TOOLS: {
  readonly a2ui: readonly string[];
  readonly html: readonly string[];
} = { a2ui: ["render_a2ui"], html: ["generateSandboxedUi"] };

/** Types of activities that clients draw as an interface. */
export const RENDERING_ACTIVITIES: readonly string[] = [
  "a2ui-surface",
  "mcp-apps",
  "open-generative-ui",
];
