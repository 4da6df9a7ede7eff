// XML answers, one or several in a file. Each element at the path of a row becomes an object: children by their names,
// attributes with an @, several children of a name as a list. There are no document types and no entities besides the five
// of XML itself, so nothing can be made to grow. The limits of a row hold for every row, for everything beside the rows of
// a document, and for any single tag, text, comment, CDATA section or processing instruction, which the parser buffers
// until it ends.

import { NEWLINE } from '@offerbook/wire/rows/json-scan.ts';
import { BrokenFile, cutRows } from '@offerbook/wire/rows/raw-row.ts';
import { findCountExcess, tooLong } from '@offerbook/wire/rows/row-limits.ts';
import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import { quote, XML_TEXT } from '../fields.ts';
import { FEED_LIMITS, type FeedRow } from './feed-row.ts';

export interface XmlRules {
  readonly row: readonly string[];
  /** An element beside the rows that tells what went wrong, and what to do with its text. */
  readonly errorElement?: string | undefined;
  readonly onError: (text: string, line: number) => void;
  /** Called at the end of every element that rows stand in, with its attributes and the texts beside its rows. */
  readonly onAnswer: (answer: Record<string, unknown>, line: number) => void;
}

export function readXmlRows(chunks: AsyncIterable<Uint8Array>, rules: XmlRules): AsyncGenerator<XmlRow[]> {
  return cutRows(withoutDeclarations(utf8Texts(chunks)), new ElementCutter(rules));
}

/** The parser gets this many characters at a time; its buffer is checked after each piece. */
const PIECE_LENGTH = 2 ** 16;

type XmlRow = Omit<FeedRow, 'format'>;
type Element = Record<string, unknown>;

interface OpenElement {
  readonly name: string;
  readonly element: Element;
  text: string;
}

class ElementCutter {
  readonly rows: XmlRow[] = [];
  readonly #rules: XmlRules;
  /** Several documents in a row are a fragment, as XML calls it. */
  readonly #parser = new SaxesParser({ fragment: true });
  readonly #open: OpenElement[] = [];
  /** Characters that the parser has read since it last handed something out, give or take a piece. */
  #buffered = 0;
  #rowLine = 1;
  #items = 0;
  #hasRoot = false;
  /** Whether the document that is open had the element that rows stand in. */
  #hasAnswer = false;
  /** Size of the row that is open, if one is. */
  #row: XmlSize | undefined;
  /** Size of everything beside the rows of the document that is open. */
  #beside = new XmlSize();

  constructor(rules: XmlRules) {
    this.#rules = rules;
    const parser = this.#parser;
    parser.on('opentagstart', ({ name }) => this.#openElement(name));
    // Plain, since namespaces are not asked for.
    parser.on('attribute', (attribute) => this.#addAttribute(attribute as SaxesAttributePlain));
    parser.on('opentag', () => this.#endBuffer());
    parser.on('closetag', () => this.#closeElement());
    parser.on('text', (text) => this.#addText(text));
    parser.on('cdata', (text) => this.#addText(text));
    parser.on('comment', () => this.#endBuffer());
    parser.on('processinginstruction', () => this.#endBuffer());
    parser.on('error', ({ message }) => {
      const words = message.replace(/^\d+:\d+: /, '');
      // The words may hold a name of any length.
      this.#fail(`is broken: ${words.length > 80 ? `${words.slice(0, 80)}…` : words}`);
    });
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at += PIECE_LENGTH) {
      const piece = text.slice(at, at + PIECE_LENGTH);
      this.#buffered += piece.length;
      this.#parser.write(piece);
      if (this.#buffered > FEED_LIMITS.bytes) this.#fail(tooLong(FEED_LIMITS).reason);
    }
  }

  end(): void {
    this.#parser.close();
    if (!this.#hasRoot) this.#fail('has no element');
  }

  #openElement(name: string): void {
    const { row } = this.#rules;
    if (this.#open.length === 0) {
      this.#hasRoot = true;
      this.#hasAnswer = false;
      this.#beside = new XmlSize();
      if (name !== row[0]) this.#fail(`must begin with <${row[0]}>, not with ${quote(name)}`);
    }
    this.#open.push({ name, element: Object.create(null), text: '' });
    if (this.#isAt(row.length)) {
      this.#rowLine = this.#parser.line;
      this.#row = new XmlSize();
    } else if (this.#isAt(row.length - 1)) this.#hasAnswer = true;
    this.#grow(name.length, name);
  }

  #addAttribute({ name, value }: SaxesAttributePlain): void {
    this.#grow(name.length + value.length, `@${name}`);
    const element = this.#open.at(-1)?.element ?? {};
    // The parser would find out at the end of the tag, which may be far away.
    if (Object.hasOwn(element, `@${name}`)) this.#fail(`is broken: attribute ${quote(name)} is there twice`);
    element[`@${name}`] = value;
  }

  #closeElement(): void {
    this.#endBuffer();
    const { row, errorElement, onError, onAnswer } = this.#rules;
    const [isRow, isAnswer] = [this.#isAt(row.length), this.#isAt(row.length - 1)];
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const value = toValue(closed);
    const isInside = this.#open.length >= row.length;
    if (isRow) {
      this.#row = undefined;
      const place = { line: this.#rowLine, item: ++this.#items };
      this.rows.push({ place, value });
    } else if (isInside) this.#addChild(closed.name, value);
    else if (closed.name === errorElement) onError(closed.text.trim(), this.#parser.line);
    else if (isAnswer) onAnswer(closed.element, this.#parser.line);
    else if (typeof value === 'string' && this.#isAt(row.length - 1)) this.#addChild(closed.name, value);
    if (this.#open.length === 0 && !this.#hasAnswer) {
      this.#fail(`has no <${row.at(-2)}>, in which its rows would stand`);
    }
  }

  /** Whether what is open are the first elements of the path to a row, and so many of them. */
  #isAt(depth: number): boolean {
    const { row } = this.#rules;
    return this.#open.length === depth && this.#open.every(({ name }, index) => name === row[index]);
  }

  #addChild(name: string, value: unknown): void {
    const parent = this.#open.at(-1)?.element;
    if (parent === undefined) return;
    const before = parent[name];
    if (!Object.hasOwn(parent, name)) parent[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else parent[name] = [before, value];
  }

  #addText(text: string): void {
    this.#endBuffer();
    const current = this.#open.at(-1);
    if (current === undefined) {
      if (text.trim() !== '') this.#fail('has text outside of its elements');
    } else if (this.#row !== undefined || !this.#isAt(this.#open.length)) {
      // Elements that lead to rows have no text of their own, only blanks between their children.
      this.#grow(text.length);
      current.text += text;
    }
  }

  #endBuffer(): void {
    this.#buffered = 0;
  }

  /** Counts characters of the row, or of what stands beside the rows; with a name, also another value. */
  #grow(length: number, name?: string): void {
    const size = this.#row ?? this.#beside;
    size.length += length;
    if (name !== undefined) {
      size.values++;
      size.names.add(name);
    }
    const counts = { values: size.values, names: size.names.size, depth: this.#open.length };
    const excess =
      size.length > FEED_LIMITS.bytes ? tooLong(FEED_LIMITS) : findCountExcess(counts, FEED_LIMITS);
    if (excess !== undefined) this.#fail(excess.reason);
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#parser.line }, { field: 'the XML', reason });
  }
}

/** Names, attributes and texts, as far as they were read. */
class XmlSize {
  length = 0;
  /** Elements and attributes. */
  values = 0;
  readonly names = new Set<string>();
}

/** A leaf is its text; anything else is an object that may have a text besides. */
function toValue({ element, text }: OpenElement): unknown {
  const trimmed = text.trim();
  if (Object.keys(element).length === 0) return trimmed;
  if (trimmed !== '') element[XML_TEXT] = trimmed;
  return element;
}

/** What is not UTF-8 is refused with its line, rather than replaced: a wrong letter would be imported unnoticed. */
async function* utf8Texts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new BrokenFile({ line }, { field: 'the text', reason: 'is not UTF-8 from about here on' });
    }
  };
  for await (const chunk of chunks) {
    yield decode(chunk);
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) line++;
  }
  yield decode();
}

const DECLARATION = /<\?xml\s[^<>]*\?>/g;
const DECLARATION_LENGTH_MAX = 1000;

/** Each document of several has its declaration, which XML allows at the start of a file only. Lines stay what they were. */
async function* withoutDeclarations(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const all = rest + text;
    // What may be the beginning of a declaration waits for its end.
    const open = all.lastIndexOf('<');
    const waits =
      open !== -1 && all.length - open < DECLARATION_LENGTH_MAX && /^<(\?|$)/.test(all.slice(open, open + 2));
    const cut = waits && !all.includes('>', open) ? open : all.length;
    rest = all.slice(cut);
    yield all.slice(0, cut).replaceAll(DECLARATION, checkDeclaration);
  }
  yield rest;
}

function checkDeclaration(declaration: string): string {
  const [, encoding = 'UTF-8'] = /encoding\s*=\s*["']([^"']*)["']/.exec(declaration) ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) {
    throw new BrokenFile(
      { line: 1 },
      { field: 'the XML', reason: `must be UTF-8, and says that it is ${quote(encoding)}` },
    );
  }
  return declaration.replaceAll(/[^\n]/g, '');
}
