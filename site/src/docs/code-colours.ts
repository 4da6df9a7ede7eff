// Highlights code when a page is rendered: comments, strings, numbers and keywords. Languages that share their syntax for
// these share a pattern. Code in an unknown language is returned without colours.

import { type Html, html } from '../html.ts';

const STRING = /(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/;
const NUMBER = /(?<number>(?<![\w.$-])\d[\d_]*(?:\.\d+)?\b)/;
const SLASH_COMMENT = /(?<comment>(?<=^|\s)\/\/.*$)/;
const HASH_COMMENT = /(?<comment>(?<=^|\s)#.*$)/;

const C_LIKE = keywords(
  'as async await break case catch class const continue do else export extends false final finally for from func function if implements import in instanceof interface let new nil null of package private public range readonly return static string switch this throw throws true try type typeof undefined use var void while yield',
);
const PYTHON = keywords(
  'and as break class continue def elif else except False for from if import in is lambda None not or pass raise return True try while with yield',
);
const SHELL = /(?<word>\b(?:case|do|done|elif|else|esac|export|fi|for|if|in|then|until|while)\b)/;

const JSON_CODE = join(
  /(?<name>"(?:[^"\\]|\\.)*")(?=\s*:)/,
  /(?<text>"(?:[^"\\]|\\.)*")/,
  /(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/,
  /(?<word>\b(?:true|false|null)\b)/,
);
const SLASHED = join(SLASH_COMMENT, STRING, C_LIKE, NUMBER);
const SHELL_CODE = join(HASH_COMMENT, /(?<name>\$\{?\w+\}?)/, STRING, SHELL);

const PATTERNS: Readonly<Record<string, RegExp>> = {
  json: JSON_CODE,
  sh: SHELL_CODE,
  command: SHELL_CODE,
  curl: SHELL_CODE,
  GET: SHELL_CODE,
  POST: SHELL_CODE,
  ts: SLASHED,
  js: SLASHED,
  TypeScript: SLASHED,
  'Node fetch': SLASHED,
  PHP: SLASHED,
  Go: SLASHED,
  Java: SLASHED,
  Python: join(HASH_COMMENT, STRING, PYTHON, NUMBER),
};

export function colouredCode(code: string, language: string): Html {
  const pattern = PATTERNS[language];
  if (pattern === undefined) return html`${code}`;
  const parts: Html[] = [];
  let end = 0;
  for (const { 0: token, index, groups = {} } of code.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    parts.push(html`${code.slice(end, index)}<span class="code-${kind}">${token}</span>`);
    end = index + token.length;
  }
  return html`${parts}${code.slice(end)}`;
}

/** The block in which a page shows code. A script adds a copy button. */
export function sampleBlock(language: string, code: string): Html {
  return html`<div class="sample"><pre tabindex="0"><code data-language="${language}">${colouredCode(code, language)}</code></pre></div>`;
}

function keywords(words: string): RegExp {
  return new RegExp(`(?<word>(?<![\\w.$])(?:${words.replaceAll(' ', '|')})\\b)`);
}

function join(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'gm');
}
