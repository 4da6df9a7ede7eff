// Highlights one entry of the navigation, the section being read or else the page, and scrolls the navigation to the page.

/** A section is current when its heading is less than this far below the top of the window. */
const CURRENT_BELOW_PX = 120;

export function showCurrentPage(): void {
  const contents = document.querySelector<HTMLElement>('.contents');
  const link = contents?.querySelector<HTMLElement>('[aria-current="page"]');
  if (!contents || !link) return;
  // A third of the list stays visible above the current page.
  contents.scrollTop = link.offsetTop - contents.clientHeight / 3;
}

export function markCurrentSection(): void {
  const sections = [...document.querySelectorAll<HTMLAnchorElement>('.contents a[href*="#"]')].flatMap(
    (link) => {
      const target = link.pathname === location.pathname ? document.getElementById(link.hash.slice(1)) : null;
      return target === null ? [] : [{ link, target }];
    },
  );
  const page = document.querySelector<HTMLElement>('.contents [aria-current="page"]');
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
