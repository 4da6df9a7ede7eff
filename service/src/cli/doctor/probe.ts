// Asks a server whether it is an Offerbook, for `doctor` and `probe`. The only place of the program, with `follow`, that calls another.

const TIMEOUT_MS = 3_000;

export async function isOfferbook(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/livez`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
    const body = (await answer.json()) as { status?: unknown };
    return answer.status === 200 && body.status === 'live';
  } catch {
    return false;
  }
}
