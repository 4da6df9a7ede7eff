// Splits code into parts to colour: comments, strings, numbers, keywords and names. Languages that share their syntax for these
// share a pattern. Pages are coloured when they are rendered; the browser colours responses and samples that it changes.

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

const NOTHING = /(?!)/g;

/** Each pattern, and the languages of guides and the labels of samples to which it applies. */
const PATTERNS: readonly (readonly [RegExp, ...string[]])[] = [
  [JSON_CODE, 'json'],
  [SHELL_CODE, 'sh', 'command', 'curl', 'GET', 'POST'],
  [SLASHED, 'ts', 'js', 'TypeScript', 'Node fetch', 'PHP', 'Go', 'Java'],
  [join(HASH_COMMENT, STRING, PYTHON, NUMBER), 'Python'],
];

/** The parts of text without a colour have no kind. */
export function codeParts(code: string, language: string) {
  const parts: { readonly kind?: string | undefined; readonly text: string }[] = [];
  const [pattern = NOTHING] = PATTERNS.find(([, ...languages]) => languages.includes(language)) ?? [];
  let end = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    parts.push({ text: code.slice(end, index) }, { kind, text });
    end = index + text.length;
  }
  return [...parts, { text: code.slice(end) }];
}

function keywords(words: string): RegExp {
  return new RegExp(`(?<word>(?<![\\w.$])(?:${words.replaceAll(' ', '|')})\\b)`);
}

function join(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'gm');
}
