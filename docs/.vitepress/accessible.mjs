// Faults of the default theme that axe finds. Each correction fails the build when an upgrade of the theme changes its text.
const CORRECTIONS = {
  // The head of a section is a button. The arrow inside of it must not be a second one: readers of the screen announce only the outer.
  "VPSidebarItem.vue": [
    /class="caret"\s+role="button"\s+aria-label="toggle section"([^>]*?)\s+tabindex="0"/,
    'class="caret"$1',
  ],
  // The name of the button is its visible text.
  "VPNavBarSearchButton.vue": [/ :aria-label="translate\('button\.buttonAriaLabel'\)"/, ""],
};

/** A plugin of Vite that corrects components of the default theme. */
export function correctTheme() {
  return {
    name: "correct-theme",
    enforce: "pre",
    transform(code, id) {
      const correction = CORRECTIONS[id.split("/").at(-1)];
      if (correction === undefined) return undefined;
      const [found, corrected] = correction;
      if (!found.test(code))
        throw new Error(`${id} has changed: check docs/.vitepress/accessible.mjs`);
      return code.replace(found, corrected);
    },
  };
}

/** A plugin of markdown-it: an empty cell in the head of a table is not the head of its column. */
export function keepHeadsNamed(markdown) {
  markdown.core.ruler.push("named-heads", ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== "th_open" || tokens[index + 1].content !== "") continue;
      token.tag = "td";
      tokens[index + 2].tag = "td";
    }
  });
}
