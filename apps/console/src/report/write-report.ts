import { DATA_ID } from "./report-data.js";
import type { ReportData } from "./report-data.js";

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:980px;margin:24px auto;padding:0 16px}
summary{display:flex;flex-wrap:wrap;gap:4px 12px;cursor:pointer;padding:6px}details{border:1px solid #8888;border-radius:8px;margin:6px 0}
details>*:not(summary){margin:4px 12px}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:12px}label{display:block;margin:12px 0}
input{width:100%;padding:6px;font:inherit}#summary{padding:12px;border-radius:8px;font-weight:600}
.held>summary .sign,p.held,#summary.held{color:light-dark(#0b6b3a,#6fdca0)}.failed>summary .sign,p.failed,#summary.failed,.blocked{color:light-dark(#a5142a,#ff9aa5)}.would_block{color:light-dark(#7a4a00,#f6c667)}`;

/**
 * Writes the report of a run: one HTML file with entries, proofs and the verifier. Its Content-Security-Policy allows
 * this script and this style by their digest and no network, so names in the data stay text.
 */
export async function writeReport(data: ReportData, script: string): Promise<string> {
  const policy = `default-src 'none'; script-src '${await digestOf(script)}'; style-src '${await digestOf(STYLE)}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
  // JSON stays JSON, and no text of it ends the element.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receipts of a run</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Receipts of a run</h1>
<p id="summary" role="status">Verifying…</p>
<div id="facts"></div>
<label>Log key from another channel (log.vkey of the key directory). Without it, the checks show that entries, proofs and checkpoints match each other, not whose log it is.
<input id="log-key" spellcheck="false" autocomplete="off"></label>
<div id="entries"></div>
<noscript>This page verifies itself with JavaScript. Without it, use countersign receipts verify.</noscript>
</main>
<script type="application/json" id="${DATA_ID}">${json}</script>
<script>${script}</script>
</body>
</html>
`;
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(bytes)))}`;
}
