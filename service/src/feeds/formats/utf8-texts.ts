// Bytes as text, for formats whose parsers take text. What is not UTF-8 is refused with its line, rather than replaced:
// a name with a wrong letter would be imported without anybody noticing.

import { NEWLINE } from '../../importer/formats/json-scan.ts';
import { BrokenFile } from '../../importer/formats/raw-row.ts';

export async function* utf8Texts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
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
