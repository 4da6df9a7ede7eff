// The protocol between two processes: one JSON value per line.

export async function* readJsonLines<Message>(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Message, undefined> {
  let rest = '';
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    // A process that is killed may leave half a line behind.
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Message;
  }
  return undefined;
}
