// Adds search, live requests and copy buttons to the documentation, and highlights one entry of its navigation: the section
// being read, or else the page. The pages are readable without this script.

import { enableSamples } from './samples.ts';
import { startSearch } from './search.ts';
import { enableForm, fillTokenField } from './try-it.ts';

/** A section is current when its heading is less than this far below the top of the window. */
const CURRENT_BELOW_PX = 120;

startSearch();
showCurrentEntry();
const showToken = enableSamples();
showToken();
fillTokenField(showToken);
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) enableForm(form);

function showCurrentEntry(): void {
  const contents = document.querySelector<HTMLElement>('.contents');
  const page = contents?.querySelector<HTMLElement>('[aria-current="page"]');
  // A third of the list stays visible above the current page.
  if (contents && page) contents.scrollTop = page.offsetTop - contents.clientHeight / 3;
  const sections = [...document.querySelectorAll<HTMLAnchorElement>('.contents a[href*="#"]')].flatMap(
    (link) => {
      const target = link.pathname === location.pathname ? document.getElementById(link.hash.slice(1)) : null;
      return target === null ? [] : [{ link, target }];
    },
  );
  let marked: HTMLAnchorElement | undefined;

  function mark(): void {
    const reached = sections.filter(({ target }) => target.getBoundingClientRect().top < CURRENT_BELOW_PX);
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    // The last section may be too short to reach the top of the window.
    const current = (isAtEnd ? sections.at(-1) : reached.at(-1))?.link;
    if (current === marked) return;
    marked?.removeAttribute('aria-current');
    current?.setAttribute('aria-current', 'location');
    page?.toggleAttribute('data-above', current !== undefined);
    marked = current;
  }

  addEventListener('scroll', mark, { passive: true });
  mark();
}
