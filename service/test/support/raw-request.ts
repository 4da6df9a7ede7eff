// Sends bytes unchanged; an HTTP client would correct them.

/** Returns what arrived until the end of the response's head. */
export async function rawRequest(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(bytes),
      data(socket, chunk) {
        answer += chunk.toString();
        if (answer.includes('\r\n\r\n')) socket.end();
      },
      close: () => resolve(answer),
    },
  });
  return promise;
}
