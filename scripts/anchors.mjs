/** The anchor of a heading, as code hosts write it: the docs are read there and on the site, so both must agree. */
export function anchorOf(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
