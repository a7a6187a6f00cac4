/** A piece of a template: text to keep, or a name to look up. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reference"; readonly name: string };

/** A template taken apart; an unclosed `{{` stays in the text and is reported. */
export type ScannedTemplate = {
  readonly parts: readonly TemplatePart[];
  readonly unclosed: boolean;
};

/** Takes a template apart in one pass. `\{{` is text, spaces around a name do not count. */
export function scanTemplate(text: string): ScannedTemplate {
  const parts: TemplatePart[] = [];
  let pending = "";
  let from = 0;
  let unclosed = false;
  for (;;) {
    const open = text.indexOf("{{", from);
    if (open < 0) break;
    if (open > 0 && text.charCodeAt(open - 1) === BACKSLASH) {
      pending += `${text.slice(from, open - 1)}{{`;
      from = open + 2;
      continue;
    }
    const close = text.indexOf("}}", open + 2);
    if (close < 0) {
      unclosed = true;
      break;
    }
    pending += text.slice(from, open);
    if (pending !== "") parts.push({ kind: "text", text: pending });
    pending = "";
    parts.push({ kind: "reference", name: text.slice(open + 2, close).trim() });
    from = close + 2;
  }
  pending += text.slice(from);
  if (pending !== "") parts.push({ kind: "text", text: pending });
  return { parts, unclosed };
}

const BACKSLASH = 92;
