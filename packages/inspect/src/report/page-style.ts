/** The look of the HTML report, light and dark. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#dde3ea;--paper:#fff;--ground:#f5f7fa;
--error:#c62f3e;--warning:#b97700;--note:#3a6ea5;--good:#1f8a5b;--text:#3a6ea5;--tool:#8a5bd0;--state:#1f8a5b;--run:#1c2430;--other:#8995a5}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf2;--soft:#9aa7b8;--line:#2b3542;--paper:#171d26;--ground:#0f141b;
--error:#ff6b78;--warning:#f0b04a;--note:#7fb2ea;--good:#4fc792;--text:#7fb2ea;--tool:#b795f0;--state:#4fc792;--run:#e6ebf2;--other:#76859a}}
*{box-sizing:border-box}body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground)}
header,main{max-width:1080px;margin:0 auto;padding:20px}h1{font-size:15px;letter-spacing:.04em;color:var(--soft);margin:0}
h2{font-size:16px;margin:0 0 12px}.target{font:600 20px ui-monospace,monospace;margin:4px 0;overflow-wrap:anywhere}.verdict{margin:0 0 16px}
.layers{display:flex;gap:12px;list-style:none;padding:0;margin:0;flex-wrap:wrap}.layers li{flex:1 1 220px;background:var(--paper);border:1px solid var(--line);border-top:4px solid var(--other);border-radius:8px;padding:10px 14px}
.layers .pass{border-top-color:var(--good)}.layers .warn{border-top-color:var(--warning)}.layers .fail{border-top-color:var(--error)}.layers b{display:block}.layers span{color:var(--soft)}
section{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:18px;margin-bottom:18px}
#bytes,#timeline{overflow-x:auto}svg{display:block;width:100%;min-width:620px}.tick{cursor:pointer}.tick:hover rect,.tick:focus rect,.tick.chosen rect{stroke:var(--ink);stroke-width:2}.tick:focus{outline:none}
.axis{fill:var(--soft);font-size:11px}.gap{fill:var(--warning);opacity:.16}.legend{display:flex;gap:14px;flex-wrap:wrap;color:var(--soft);font-size:13px;margin-top:8px}.legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px}
.phase{display:grid;grid-template-columns:90px 1fr 90px;gap:10px;align-items:center;font-size:13px;margin-bottom:4px}.phase div{background:var(--ground);height:12px;border-radius:3px;position:relative}.phase div i{position:absolute;height:100%;min-width:2px;background:var(--note);border-radius:3px}.phase em{color:var(--soft);font-style:normal;text-align:right}
#detail{border-top:1px solid var(--line);margin-top:16px;padding-top:12px}.bar{display:flex;align-items:center;gap:8px}.bar h3{flex:1;margin:0;font-size:14px}
button{font:inherit;border:1px solid var(--line);background:var(--ground);color:inherit;border-radius:6px;padding:2px 12px;cursor:pointer}
pre{background:var(--ground);border-radius:8px;padding:12px;overflow:auto;max-height:340px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}
.finding{border-left:4px solid var(--note);padding:2px 0 2px 14px;margin-bottom:16px}.finding.error{border-color:var(--error)}.finding.warning{border-color:var(--warning)}.finding p{margin:2px 0;overflow-wrap:anywhere}.finding code{font:600 13px ui-monospace,monospace}
.badge{font-size:12px;border-radius:999px;padding:1px 9px;margin-left:8px;border:1px solid currentColor}.badge.error{color:var(--error)}.badge.warning{color:var(--warning)}.badge.note{color:var(--note)}.places{color:var(--soft);font-size:13px}.places a{color:inherit}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:right;padding:5px 10px;border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:500}.empty{color:var(--soft)}
`;
