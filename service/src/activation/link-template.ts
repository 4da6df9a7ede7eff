// Where a click leads: a URL of the operator's, mostly of an affiliate network, with the id of the click in it. The
// placeholders stand behind the host, so that no click and no catalogue can change which server a user is sent to.

import type { ClickId } from '../domain/click.ts';

const TEMPLATE_LENGTH_MAX = 4_096;

/** Everything up to the path: a scheme, a host, perhaps a port. */
const BEGINNING = /^https:\/\/[^/?#@\\{}]+[/?#]/i;
const PLACEHOLDER = /\{[^{}]*\}|[{}]/g;

/** What is wrong with a template, as the end of a sentence; undefined when nothing is. */
export function templateProblem(template: string): string | undefined {
  if (template.length > TEMPLATE_LENGTH_MAX) return `must have at most ${TEMPLATE_LENGTH_MAX} characters`;
  if (/[\s\p{C}]/u.test(template)) return 'must have no blanks and no control characters';
  if (!BEGINNING.test(template)) return 'must start with https://, a host without a user, and a path';
  const placeholders = template.match(PLACEHOLDER) ?? [];
  const unknown = placeholders.find((each) => each !== '{click}' && each !== '{url}');
  if (unknown !== undefined) return 'must have no other braces than those of {click} and {url}';
  const clicks = placeholders.filter((each) => each === '{click}').length;
  if (clicks !== 1) return `must have {click} exactly once, not ${clicks} times`;
  if (placeholders.length > 2) return 'must have {url} at most once';
  if (!URL.canParse(template.replaceAll(PLACEHOLDER, 'x'))) return 'must be a URL';
  return undefined;
}

/** The URL of a click. `url` is where the user is to arrive in the end. */
export function fillTemplate(template: string, click: ClickId, url: string): string {
  // By a function: in a replacement that is a text, dollar signs have a meaning.
  return template.replace(PLACEHOLDER, (placeholder) =>
    placeholder === '{click}' ? click : encodeURIComponent(url),
  );
}
