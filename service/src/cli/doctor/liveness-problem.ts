// Requests /livez and /readyz from a server, for `doctor` and `probe`. Besides this file, only `follow` and `mcp` send requests
// to a server.

const TIMEOUT_MS = 3_000;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed before a response',
  ENOTFOUND: 'unknown host',
  EPROTO: 'the TLS handshake failed',
};

/** Returns why no Offerbook server is live at this origin; undefined if one is. */
export async function livenessProblem(origin: string): Promise<string | undefined> {
  try {
    const response = await ask(origin, '/livez');
    if (response.status !== 200) return `it returned status ${response.status}`;
    const body: unknown = await response.json().catch(() => undefined);
    return isSet(body, 'status', 'live') ? undefined : 'it is not Offerbook';
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    if (error.name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1_000} s`;
    return ('code' in error && REASONS[String(error.code)]) || error.message;
  }
}

/** True if a server is running at this origin and has found that its database file is corrupt. */
export async function reportsCorruption(origin: string): Promise<boolean> {
  const body: unknown = await ask(origin, '/readyz')
    .then((response) => response.json())
    .catch(() => undefined);
  return isSet(body, 'database', 'corrupt');
}

function ask(origin: string, path: string): Promise<Response> {
  return fetch(origin + path, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
}

function isSet(body: unknown, field: string, value: string): boolean {
  return typeof body === 'object' && body !== null && (body as Record<string, unknown>)[field] === value;
}
