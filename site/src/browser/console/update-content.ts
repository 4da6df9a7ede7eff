// Makes an element equal to a new version of it, and keeps every node that both have. Focus, scroll positions, open details and
// text in fields stay, because they belong to nodes.

/** Nodes that the script has added, such as plots and buttons, have this attribute and stay as they are. */
const ADDED = 'data-added';
/** Attributes that the reader or the script changes. */
const OWN_ATTRIBUTES = ['open', 'data-drawn'];

export function updateContent(now: Element, next: Element): void {
  const left = [...now.childNodes].filter((node) => !isAdded(node));
  const wanted = [...next.childNodes].map((node) => ({ node, kept: takeSame(left, node) }));
  // Removed first, so that the others need not be moved: an element that is moved loses the focus.
  for (const node of left) node.remove();
  let place = ownFrom(now.firstChild);
  for (const { node, kept } of wanted) {
    if (kept === undefined) {
      now.insertBefore(document.importNode(node, true), place);
      continue;
    }
    update(kept, node);
    if (kept !== place) now.insertBefore(kept, place);
    place = ownFrom(kept.nextSibling);
  }
}

/** Removes from `left`, and returns, the first node with the name and key of `node`; undefined if there is none. */
function takeSame(left: ChildNode[], node: ChildNode): ChildNode | undefined {
  const key = keyOf(node);
  const found = left.findIndex((one) => one.nodeName === node.nodeName && keyOf(one) === key);
  return found < 0 ? undefined : left.splice(found, 1)[0];
}

/** Identifies a table row by its first cell, so that a row keeps its node when other rows are added before it. */
function keyOf(node: ChildNode): string {
  return node instanceof HTMLElement && node.localName === 'tr'
    ? (node.firstElementChild?.textContent ?? '')
    : '';
}

function update(kept: ChildNode, next: ChildNode): void {
  if (!(kept instanceof Element && next instanceof Element)) {
    if (kept.nodeValue !== next.nodeValue) kept.nodeValue = next.nodeValue;
    return;
  }
  for (const name of new Set([...kept.getAttributeNames(), ...next.getAttributeNames()])) {
    const value = next.getAttribute(name);
    if (OWN_ATTRIBUTES.includes(name) || kept.getAttribute(name) === value) continue;
    if (value === null) kept.removeAttribute(name);
    else kept.setAttribute(name, value);
  }
  updateContent(kept, next);
}

function isAdded(node: ChildNode): boolean {
  return node instanceof Element && node.hasAttribute(ADDED);
}

/** Returns this node or the first one after it that the script has not added. */
function ownFrom(node: ChildNode | null): ChildNode | null {
  let own = node;
  while (own !== null && isAdded(own)) own = own.nextSibling;
  return own;
}
