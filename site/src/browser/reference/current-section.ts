// Highlights the section being read in the navigation.

/** A heading counts as reached when it is this far below the top of the window. */
const REACHED_PX = 120;

export function markCurrentSection(page: Document): void {
  const sections = [...page.querySelectorAll<HTMLAnchorElement>('.contents a[href*="#"]')].flatMap((link) => {
    const target = link.pathname === location.pathname ? page.getElementById(link.hash.slice(1)) : null;
    return target === null ? [] : [{ link, target }];
  });
  let marked: HTMLAnchorElement | undefined;

  function mark(): void {
    const reached = sections.filter(({ target }) => target.getBoundingClientRect().top < REACHED_PX);
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= page.documentElement.scrollHeight - 2;
    // The last section may be too short to get to the top of the window.
    const current = (isAtEnd ? sections.at(-1) : reached.at(-1))?.link;
    if (current === marked) return;
    marked?.removeAttribute('aria-current');
    current?.setAttribute('aria-current', 'location');
    marked = current;
  }

  addEventListener('scroll', mark, { passive: true });
  mark();
}
