// Requests /livez from a server, for `doctor` and `probe`. Only this file and `follow` send requests to a server.

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
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${origin}/livez`, { signal, redirect: 'manual' });
    if (response.status !== 200) return `it returned status ${response.status}`;
    const body: unknown = await response.json().catch(() => undefined);
    return isLive(body) ? undefined : 'it is not Offerbook';
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    if (error.name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1_000} s`;
    return ('code' in error && REASONS[String(error.code)]) || error.message;
  }
}

function isLive(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'live';
}
