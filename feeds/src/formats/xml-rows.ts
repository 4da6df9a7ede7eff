// XML responses, one or several per file. Each element at the row path becomes an object: children by name, attributes
// prefixed with @, repeated children as a list. Document types and custom entities are rejected, so no entity can expand.
//
// The limits apply to every row, to everything else in a document, and to any single tag, text, comment, CDATA section or
// processing instruction, because the parser buffers these until they end.

import { BrokenFile, type ParsedRow } from '@offerbook/wire/rows/raw-row.ts';
import { findCountExcess, type RowLimits, tooLong } from '@offerbook/wire/rows/row-limits.ts';
import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import { quote, XML_TEXT } from '../fields.ts';
import type { XmlShape } from './feed-row.ts';

interface XmlEvents {
  /** Receives the text of the error element. */
  readonly onError: (text: string, line: number) => void;
  /** Called at the end of every element that contains rows, with its attributes and its other child elements. */
  readonly onResponse: (answer: Record<string, unknown>, line: number) => void;
}

/** Characters per write to the parser; its buffer is checked after each write. */
const PIECE_LENGTH = 2 ** 16;

interface OpenElement {
  readonly name: string;
  readonly element: Record<string, unknown>;
  text: string;
}

export class ElementCutter {
  readonly rows: ParsedRow[] = [];
  readonly #shape: XmlShape;
  readonly #limits: RowLimits;
  readonly #events: XmlEvents;
  /** Throws for invalid UTF-8, because replacement characters would be imported unnoticed. */
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** Uses fragment mode, because a file can contain several documents. */
  readonly #parser = new SaxesParser({ fragment: true });
  /** The start of an XML declaration whose end is in the next chunk. */
  #rest = '';
  readonly #open: OpenElement[] = [];
  /** Upper bound for the number of characters that the parser has buffered, accurate to PIECE_LENGTH. */
  #buffered = 0;
  #rowLine = 1;
  #items = 0;
  #hasRoot = false;
  /** True if the element that contains the rows has occurred in the current document. */
  #hasAnswer = false;
  #row: XmlSize | undefined;
  /** Size of everything outside the rows of the current document. */
  #outside = new XmlSize();

  constructor(shape: XmlShape, limits: RowLimits, events: XmlEvents) {
    this.#shape = shape;
    this.#limits = limits;
    this.#events = events;
    const parser = this.#parser;
    parser.on('opentagstart', ({ name }) => this.#openElement(name));
    // The cast is safe: namespaces are off.
    parser.on('attribute', (attribute) => this.#addAttribute(attribute as SaxesAttributePlain));
    parser.on('opentag', () => this.#endBuffer());
    parser.on('closetag', () => this.#closeElement());
    parser.on('text', (text) => this.#addText(text));
    parser.on('cdata', (text) => this.#addText(text));
    parser.on('comment', () => this.#endBuffer());
    parser.on('processinginstruction', () => this.#endBuffer());
    parser.on('error', ({ message }) => {
      const reason = message.replace(/^\d+:\d+: /, '');
      // The parser's message can contain a name of any length.
      this.#fail(`is broken: ${reason.length > 80 ? `${reason.slice(0, 80)}…` : reason}`);
    });
  }

  push(chunk: Uint8Array): void {
    const text = this.#rest + this.#decode(chunk);
    const start = text.lastIndexOf('<');
    const isCutOff =
      start !== -1 &&
      text.length - start < DECLARATION_LENGTH_MAX &&
      /^<(?:\?[^>]*)?$/.test(text.slice(start));
    const end = isCutOff ? start : text.length;
    this.#rest = text.slice(end);
    this.#parse(text.slice(0, end).replaceAll(DECLARATION, checkDeclaration));
  }

  end(): void {
    this.#parse(this.#rest + this.#decode());
    this.#parser.close();
    if (!this.#hasRoot) this.#fail('has no element');
  }

  #decode(chunk?: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      const problem = { field: 'the text', reason: 'is not valid UTF-8 near this line' };
      throw new BrokenFile({ line: this.#parser.line }, problem);
    }
  }

  #parse(text: string): void {
    for (let at = 0; at < text.length; at += PIECE_LENGTH) {
      const piece = text.slice(at, at + PIECE_LENGTH);
      this.#buffered += piece.length;
      this.#parser.write(piece);
      if (this.#buffered > this.#limits.bytes) this.#fail(tooLong(this.#limits).reason);
    }
  }

  #openElement(name: string): void {
    const { row } = this.#shape;
    if (this.#open.length === 0) {
      this.#hasRoot = true;
      this.#hasAnswer = false;
      this.#outside = new XmlSize();
      if (name !== row[0]) this.#fail(`must start with <${row[0]}>, not with ${quote(name)}`);
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
    // The parser detects a duplicate attribute only at the end of the tag.
    if (Object.hasOwn(element, `@${name}`)) this.#fail(`is broken: attribute ${quote(name)} appears twice`);
    element[`@${name}`] = value;
  }

  #closeElement(): void {
    this.#endBuffer();
    const { row, errorElement } = this.#shape;
    const [isRow, isAnswer] = [this.#isAt(row.length), this.#isAt(row.length - 1)];
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const value = toValue(closed);
    const { line } = this.#parser;
    if (isRow) {
      this.#row = undefined;
      this.rows.push({ place: { line: this.#rowLine, item: ++this.#items }, value });
    } else if (this.#open.length >= row.length) this.#addChild(closed.name, value);
    else if (closed.name === errorElement) this.#events.onError(closed.text.trim(), line);
    else if (isAnswer) this.#events.onResponse(closed.element, line);
    else if (typeof value === 'string' && this.#isAt(row.length - 1)) this.#addChild(closed.name, value);
    if (this.#open.length === 0 && !this.#hasAnswer) {
      this.#fail(`has no <${row.at(-2)}> element with rows`);
    }
  }

  /** True if the open elements are exactly the first `depth` elements of the path to a row. */
  #isAt(depth: number): boolean {
    const { row } = this.#shape;
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
      if (text.trim() !== '') this.#fail('has text outside its elements');
    } else if (this.#row !== undefined || !this.#isAt(this.#open.length)) {
      // Elements on the path to a row contain only white space between their children.
      this.#grow(text.length);
      current.text += text;
    }
  }

  #endBuffer(): void {
    this.#buffered = 0;
  }

  /**
   * Adds `length` characters and, if a name is given, one value to the size of the current row or of everything outside rows.
   */
  #grow(length: number, name?: string): void {
    const size = this.#row ?? this.#outside;
    size.length += length;
    if (name !== undefined) {
      size.values++;
      size.names.add(name);
    }
    const counts = { values: size.values, names: size.names.size, depth: this.#open.length };
    const excess =
      size.length > this.#limits.bytes ? tooLong(this.#limits) : findCountExcess(counts, this.#limits);
    if (excess !== undefined) this.#fail(excess.reason);
  }

  #fail(reason: string): never {
    throw new BrokenFile({ line: this.#parser.line }, { field: 'the XML', reason });
  }
}

class XmlSize {
  /** Characters in names, attributes and text. */
  length = 0;
  /** Elements and attributes. */
  values = 0;
  readonly names = new Set<string>();
}

/** An element without attributes and children becomes its text; any other becomes an object. */
function toValue({ element, text }: OpenElement): unknown {
  const trimmed = text.trim();
  if (Object.keys(element).length === 0) return trimmed;
  if (trimmed !== '') element[XML_TEXT] = trimmed;
  return element;
}

const DECLARATION = /<\?xml\s[^<>]*\?>/g;
const DECLARATION_LENGTH_MAX = 1000;

/**
 * Removes an XML declaration, which the parser accepts only at the start. Preserves newlines so that line numbers stay
 * correct.
 */
function checkDeclaration(declaration: string): string {
  const [, encoding = 'UTF-8'] = /encoding\s*=\s*["']([^"']*)["']/.exec(declaration) ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) {
    throw new BrokenFile(
      { line: 1 },
      { field: 'the XML', reason: `must be UTF-8, but declares ${quote(encoding)}` },
    );
  }
  return declaration.replaceAll(/[^\n]/g, '');
}
