/**
 * The address of the published documentation; set it here. The project has no public site yet: `.example` is reserved by RFC 2606 and
 * never resolves.
 */
const DOCUMENTATION = "https://countersign.example/docs/";

/**
 * The address of a documentation page, from its path below `docs/`. Messages name pages by this address, because installed packages do
 * not contain `docs/`.
 *
 * @example
 * pageAddress("policy/rules.md#order"); // "https://…/policy/rules#order"
 */
export function pageAddress(page: string): string {
  return DOCUMENTATION + page.replace(/(^|\/)README\.md(?=#|$)/u, "$1").replace(/\.md(?=#|$)/u, "");
}
