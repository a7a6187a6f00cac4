/** The style of the report page; the page loads nothing. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#59636e;--line:#d1d9e0;--card:#f6f8fa;--bad:#cf222e;--warn:#9a6700;--good:#1a7f37;--odd:#6639ba;--mark:#fff3a3}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9198a1;--line:#30363d;--card:#151b23;--bad:#ff7b72;--warn:#e3b341;--good:#56d364;--odd:#d2a8ff;--mark:#6b5900}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:2rem 1.25rem 4rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1rem;margin:1.25rem 0 .5rem}
p{margin:.35rem 0}
code,pre,.mono{font:12.5px/1.45 ui-monospace,monospace}
.soft{color:var(--soft)}
.bar{display:flex;height:14px;border-radius:7px;overflow:hidden;margin:1rem 0 .5rem;background:var(--line)}
.bar span{display:block}
.counts{display:flex;flex-wrap:wrap;gap:1.25rem;margin-bottom:1.5rem}
.counts b{font-size:1.25rem}
.exploited{--tone:var(--bad)}.partial{--tone:var(--warn)}.error,.unsupported{--tone:var(--odd)}.not_exploited,.blocked{--tone:var(--good)}
.bar span{background:var(--tone)}
.counts b,.badge{color:var(--tone)}
.badge{border:1px solid var(--tone);border-radius:1rem;padding:0 .6rem;font-size:12.5px;white-space:nowrap}
.tag{background:var(--card);border:1px solid var(--line);border-radius:.3rem;padding:0 .4rem;font-size:12px;margin-right:.3rem;white-space:nowrap}
details.doc{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;background:var(--bg)}
details.doc>summary{display:flex;gap:.75rem;align-items:center;padding:.55rem .8rem;cursor:pointer;list-style:none}
details.doc>summary code{overflow-wrap:anywhere}
details.doc>summary .title{flex:1;min-width:0}
details.doc[open]>summary{border-bottom:1px solid var(--line);background:var(--card)}
.body{padding:.5rem 1rem 1rem}
ul.plain{list-style:none;margin:0;padding:0}
ul.plain li{margin:.3rem 0}
ol.trace{list-style:none;margin:0;padding:0;border-left:2px solid var(--line)}
ol.trace li{position:relative;padding:.15rem 0 .15rem 1.1rem}
ol.trace li::before{content:"";position:absolute;left:-5px;top:.6rem;width:8px;height:8px;border-radius:50%;background:var(--soft)}
ol.trace li.request::before{background:var(--odd)}
ol.trace li.hit{background:color-mix(in srgb,var(--mark) 35%,transparent)}
ol.trace li.hit::before{background:var(--bad)}
ol.trace summary{cursor:pointer;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);border:1px solid var(--line);border-radius:.35rem;padding:.6rem;margin:.35rem 0;max-height:24rem;overflow:auto}
mark{background:var(--mark);color:inherit;font-weight:600}
.two{display:grid;gap:1.5rem;grid-template-columns:minmax(0,1fr)}
@media(min-width:900px){.two.both{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media(max-width:640px){
body{padding:1.25rem .75rem 3rem}
.counts{gap:.5rem 1.25rem}
details.doc>summary{flex-wrap:wrap;gap:.35rem .5rem}
details.doc>summary .title{order:1;flex-basis:100%}
.body{padding:.5rem .75rem 1rem}
}
`;
