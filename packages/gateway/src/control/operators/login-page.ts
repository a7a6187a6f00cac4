import { escapeMarkup } from "@countersign/core/report";
import type { ControlContext } from "../control-env.js";

/** Nothing is loaded and nothing runs: the page shows names that the identity provider chose. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** A page for a login that failed. */
export function loginPage(
  context: ControlContext,
  status: 400 | 403 | 503,
  { title, reason, fix }: { readonly title: string; readonly reason: string; readonly fix: string },
): Response {
  const [heading, why, remedy] = [title, reason, fix].map(escapeMarkup);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif } main { max-width: 40rem; margin: 15vh auto; padding: 0 1rem }</style>
</head>
<body>
<main>
<h1>${heading}</h1>
<p>${why}</p>
<p>Fix: ${remedy}</p>
<p><a href="/console">Back to the console</a></p>
</main>
</body>
</html>
`;
  return context.html(page, status, {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
}
