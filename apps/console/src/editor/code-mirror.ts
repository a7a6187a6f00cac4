import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml, yamlLanguage } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter, lintKeymap } from "@codemirror/lint";
import type { Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter, highlightTree, tags } from "@lezer/highlight";
import type { PolicyIssue } from "../api/responses.js";
import { placeAt, proposalsAt } from "./schema-completion.js";
import type { Schema } from "./schema-completion.js";

/** An editor on the page. */
export type Editor = {
  /** Replaces the whole text. */
  setText(text: string): void;
  destroy(): void;
};

/** What an editor needs from its page. */
export type EditorOptions = {
  readonly label: string;
  readonly text: string;
  onText(text: string): void;
  /** The errors in a text; none if the gateway cannot say. */
  check(text: string): Promise<readonly PolicyIssue[]>;
  readonly schema: Schema | undefined;
};

/** Colours of the page, so that the theme's half of light-dark() is chosen. */
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--allowed)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--would_block)" },
  { tag: tags.punctuation, color: "var(--faint)" },
]);

const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--card)", color: "var(--text)", fontSize: "0.87rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", minHeight: "220px", maxHeight: "520px" },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--raised)",
    color: "var(--faint)",
    borderRight: "1px solid var(--edge)",
  },
  ".cm-activeLine": { backgroundColor: "transparent", boxShadow: "inset 2px 0 var(--accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {
      backgroundColor: "var(--accent-soft)",
    },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--text)",
    border: "1px solid var(--edge-strong)",
    borderRadius: "8px",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--accent)",
  },
  ".cm-completionInfo": { maxWidth: "340px", padding: "6px 10px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--blocked)" },
});

/**
 * Opens an editor inside a shadow root. The page's Content-Security-Policy blocks style elements, and CodeMirror uses
 * constructed style sheets in a shadow root only.
 */
export function openEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        highlightActiveLine(),
        yaml(),
        syntaxHighlighting(COLOURS),
        THEME,
        autocompletion({
          override: [(context) => complete(context, options.schema)],
          icons: false,
        }),
        linter(
          async ({ state }) => diagnosticsOf(state, await options.check(state.doc.toString())),
          {
            delay: 400,
          },
        ),
        lintGutter(),
        // Tab leaves the editor, as everywhere on the page; Ctrl-] and Ctrl-[ indent.
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onText(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (text) => {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    destroy: () => view.destroy(),
  };
}

function complete(context: CompletionContext, schema: Schema | undefined): CompletionResult | null {
  if (schema === undefined) return null;
  const { doc } = context.state;
  const line = doc.lineAt(context.pos);
  const word = context.matchBefore(/[\w-]*/u);
  const before = line.text.slice(0, context.pos - line.from);
  if (!context.explicit && (word === null || word.from === word.to)) return null;
  if (before.includes("#")) return null;
  const place = placeAt(doc.toString().split("\n"), line.number - 1, context.pos - line.from);
  const options = proposalsAt(schema, place).map(({ label, kind, detail }) => ({
    label,
    type: kind === "key" ? "property" : "constant",
    apply: kind === "key" ? `${label}: ` : label,
    ...(detail === undefined ? {} : { info: detail }),
  }));
  return options.length === 0 ? null : { from: word?.from ?? context.pos, options };
}

function diagnosticsOf(state: EditorState, issues: readonly PolicyIssue[]): Diagnostic[] {
  return issues.map(({ line, column, message }) => {
    const at = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
    return { from, to: Math.max(from, at.to), severity: "error", message };
  });
}

/** A part of a line with the class of its kind. */
export type Token = { readonly text: string; readonly kind: string };

/** Splits YAML into lines of tokens. The classes are `tok-…`. */
export function highlightYaml(text: string): Token[][] {
  const lines: Token[][] = [[]];
  const add = (part: string, kind: string): void => {
    for (const [at, piece] of part.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (piece !== "") lines.at(-1)?.push({ text: piece, kind });
    }
  };
  let end = 0;
  highlightTree(yamlLanguage.parser.parse(text), classHighlighter, (from, to, kind) => {
    if (from > end) add(text.slice(end, from), "");
    add(text.slice(from, to), kind);
    end = to;
  });
  if (end < text.length) add(text.slice(end), "");
  return lines;
}
