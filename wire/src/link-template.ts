// Link templates: the operator's URL for a deal or retailer, usually at an affiliate network, with a placeholder for the
// click id. Placeholders must follow the host, so neither clicks nor the catalogue can redirect users to another server.

const TEMPLATE_LENGTH_MAX = 4_096;

/** Scheme, host and optional port, up to the start of the path. */
const BEGINNING = /^https:\/\/[^/?#@\\{}]+[/?#]/i;
export const PLACEHOLDER = /\{[^{}]*\}|[{}]/g;

/** Returns what is wrong with a template, phrased to end a sentence; undefined if the template is valid. */
export function templateProblem(template: string): string | undefined {
  if (template.length > TEMPLATE_LENGTH_MAX) return `must have at most ${TEMPLATE_LENGTH_MAX} characters`;
  if (/[\s\p{C}]/u.test(template)) return 'must not contain spaces or control characters';
  if (!BEGINNING.test(template))
    return 'must start with https://, a host without user information, and a path';
  const placeholders = template.match(PLACEHOLDER) ?? [];
  const unknown = placeholders.find((each) => each !== '{click}' && each !== '{url}');
  if (unknown !== undefined) return 'must not contain braces except in {click} and {url}';
  const clicks = placeholders.filter((each) => each === '{click}').length;
  if (clicks !== 1) return `must contain {click} exactly once, not ${clicks} times`;
  if (placeholders.length > 2) return 'must contain {url} at most once';
  if (!URL.canParse(template.replaceAll(PLACEHOLDER, 'x'))) return 'must be a URL';
  return undefined;
}
