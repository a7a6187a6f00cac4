import { expect, test } from "vitest";
import { pageAddress } from "./documentation.js";

test.each([
  ["access.md", "access"],
  ["access.md#tokens", "access#tokens"],
  ["rules/README.md", "rules/"],
  ["README.md#links", "#links"],
])("the page %s is at %s of the site", (page, path) => {
  expect(pageAddress(page).split("/docs/")[1]).toBe(path);
});
