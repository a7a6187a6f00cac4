export { toHtml } from "./html.js";
export { toJunit } from "./junit.js";
export { toSarif } from "./sarif.js";
