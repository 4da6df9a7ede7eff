// Replaces an environment variable in a sample with its value, in all languages of the samples.

/** Each import with the word that shows that it is still used. Go does not compile with an unused import. */
const IMPORTS = [
  ["import { env } from 'node:process';\n", /\benv\./],
  ['import os\n', /\bos\./],
  ['\t"os"\n', /\bos\./],
] as const;

export function withVariable(sample: string, name: string, value: string): string {
  const inText = new RegExp(`\\$\\{env\\.${name}\\}|\\$${name}\\b`, 'g');
  const inCode = new RegExp(
    [
      `env\\.${name} \\?\\? ''`,
      `os\\.environ\\['${name}'\\]`,
      `os\\.Getenv\\("${name}"\\)`,
      `(?:System\\.)?getenv\\(["']${name}["']\\)`,
    ].join('|'),
    'g',
  );
  const filled = sample.replaceAll(inText, value).replaceAll(inCode, `"${value}"`);
  return IMPORTS.reduce((text, [line, use]) => (use.test(text) ? text : text.replace(line, '')), filled);
}
