// Adds items at the top of a list. The items below do not jump: all of them slide down from where they were.

const SLIDE: KeyframeAnimationOptions = { duration: 350, easing: 'ease-out' };

/** Keeps at most `shownMax` items. The list must clip its content, because new items start above it. */
export function slideIn(list: HTMLElement, items: readonly HTMLElement[], shownMax: number): void {
  const first = list.firstElementChild;
  const before = first?.getBoundingClientRect().top ?? 0;
  list.prepend(...items);
  while (list.children.length > shownMax) list.lastElementChild?.remove();
  if (items.length === 0 || first?.isConnected !== true) return;
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  // The reader may have scrolled down. The browser then keeps the items where they were, and none has to slide.
  const moved = first.getBoundingClientRect().top - before;
  if (moved === 0) return;
  for (const item of list.children) {
    item.animate([{ transform: `translateY(${-moved}px)` }, { transform: 'none' }], SLIDE);
  }
}
