/** The style of the report page; the page loads nothing. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#59636e;--line:#d1d9e0;--card:#f6f8fa;--bad:#b31d28;--warn:#855a00;--good:#116329;--odd:#6639ba;--link:#0a53be;--mark:#fff3a3}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#a5adb6;--line:#30363d;--card:#151b23;--bad:#ff8f87;--warn:#e3b341;--good:#56d364;--odd:#d2a8ff;--link:#79b8ff;--mark:#5c4d00}}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0 auto;max-width:1280px;padding:2rem 1.25rem 4rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.2rem;margin:1.75rem 0 .5rem}
h3{font-size:1rem;margin:1rem 0 .4rem}
h4{font-size:.9rem;margin:1rem 0 .4rem}
p{margin:.35rem 0}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
code,pre,.mono{font:12.5px/1.45 ui-monospace,monospace}
.soft,.count{color:var(--soft)}
.count{font-weight:400}
.only-read{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.remark{border-left:4px solid var(--odd);padding:.35rem .75rem;background:var(--card)}
.exploited{--tone:var(--bad)}.partial{--tone:var(--warn)}.error,.unsupported{--tone:var(--odd)}.resisted,.blocked{--tone:var(--good)}
.bar{display:block;width:100%;height:12px;border-radius:6px;background:var(--line);margin:.25rem 0 .5rem}
.bar rect{fill:var(--tone)}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{padding:.2rem .4rem;border-bottom:1px solid var(--line);text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th{font-weight:600;color:var(--soft)}
th[scope=row],thead th:first-child{text-align:left}
td{font-weight:700;color:var(--tone)}
td.zero{font-weight:400;color:var(--soft)}
.total th,.total td{border-top:2px solid var(--line);border-bottom:0}
.legend{margin:.75rem 0 0}
.legend summary{cursor:pointer}
.legend dl{margin:.5rem 0 0;display:grid;gap:.35rem 1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr))}
.legend div{display:flex;gap:.75rem;align-items:baseline}
.legend dt{flex:0 0 6.5rem}
.legend dd{margin:0;font-size:14px}
#filters{margin:1.5rem 0 0;padding:.75rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--card);display:flex;flex-wrap:wrap;gap:.6rem 1.25rem;align-items:end}
#filters fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem .9rem;min-width:0}
#filters legend{padding:0;font-weight:600;font-size:14px}
#filters .search{font-weight:600;font-size:14px;flex:1 1 14rem}
#filters p{margin:0;flex-basis:100%}
#filters p.buttons{flex-basis:auto;display:flex;flex-wrap:wrap;gap:.5rem}
input[type=search]{display:block;width:100%;font:inherit;font-weight:400;padding:.35rem .5rem;border:1px solid var(--soft);border-radius:.35rem;background:var(--bg);color:var(--fg)}
button{font:inherit;font-size:14px;padding:.3rem .7rem;border:1px solid var(--soft);border-radius:.35rem;background:var(--bg);color:var(--fg);cursor:pointer}
.badge{color:var(--tone);border:1px solid var(--tone);border-radius:1rem;padding:0 .6rem;font-size:12.5px;font-weight:400;white-space:nowrap}
.tag{background:var(--card);border:1px solid var(--line);border-radius:.3rem;padding:0 .4rem;font-size:12px;margin-right:.3rem;white-space:nowrap}
details.doc{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;background:var(--bg)}
details.doc>summary{display:flex;gap:.75rem;align-items:center;padding:.55rem .8rem;cursor:pointer;list-style:none}
details.doc>summary::before{content:"▸";color:var(--soft)}
details.doc[open]>summary::before{content:"▾"}
details.doc>summary .title{flex:1;min-width:0}
details.doc[open]>summary{border-bottom:1px solid var(--line);background:var(--card)}
.body{padding:.5rem 1rem 1rem}
.fix{border-left:4px solid var(--tone);background:var(--card);padding:.1rem .9rem .5rem;border-radius:.25rem}
.fix h3{margin:.5rem 0 .25rem}
.reason b{color:var(--odd)}
ul.plain{list-style:none;margin:0;padding:0}
ul.plain li{margin:.3rem 0}
ol.trace{list-style:none;margin:0;padding:0;border-left:2px solid var(--line)}
ol.trace li{position:relative;padding:.15rem 0 .15rem 1.1rem}
ol.trace li::before{content:"";position:absolute;left:-5px;top:.6rem;width:8px;height:8px;border-radius:50%;background:var(--soft)}
ol.trace li.request::before{background:var(--odd)}
ol.trace li.hit,ol.trace li:target{background:color-mix(in srgb,var(--mark) 35%,transparent)}
ol.trace li.hit::before{background:var(--bad)}
ol.trace li.stop::before{background:var(--good)}
ol.trace summary{cursor:pointer}
pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--line);border-radius:.35rem;padding:.6rem;margin:.35rem 0}
mark{background:var(--mark);color:inherit;font-weight:600}
.two{display:grid;gap:.5rem 2rem;grid-template-columns:minmax(0,1fr)}
@media(min-width:900px){.two.both,.two.about{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media(max-width:640px){
body{padding:1.25rem .75rem 3rem}
details.doc>summary{flex-wrap:wrap;gap:.35rem .5rem}
details.doc>summary .title{order:1;flex-basis:100%}
.body{padding:.5rem .75rem 1rem}
thead th span{writing-mode:vertical-rl;transform:rotate(180deg)}
.legend dt{flex-basis:6.2rem}
}
`;
