// A static file server for the page and the client library. PORT defaults to 3000.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { env, stdout } from 'node:process';

const PAGE = new URL('./', import.meta.url);
const CLIENT = new URL('./', import.meta.resolve('@offerbook/client'));
const NAME = /^[a-z-]+\.js$/;

/** @param {string} path */
function findFile(path) {
  if (path === '/') return { url: new URL('index.html', PAGE), type: 'text/html; charset=utf-8' };
  if (path === '/offers.js') return { url: new URL('offers.js', PAGE), type: 'text/javascript' };
  const name = path.replace(/^\/client\//, '');
  return NAME.test(name) ? { url: new URL(name, CLIENT), type: 'text/javascript' } : undefined;
}

const server = createServer(async (request, response) => {
  const file = findFile(new URL(request.url ?? '/', 'http://localhost').pathname);
  const body = file && (await readFile(file.url).catch(() => undefined));
  if (file === undefined || body === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'Content-Type': file.type }).end(body);
});
server.listen(Number(env.PORT ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  stdout.write(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/\n`);
});
