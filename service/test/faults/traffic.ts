// Requests before, during and after a fault, each compared with the only correct response. Catalogue requests must always
// succeed; requests for transactions must succeed or get 503 in time.

export interface Answer {
  readonly kind: 'catalogue' | 'transactions' | 'health';
  readonly status: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** What was wrong; undefined for a correct response or a valid 503. */
  readonly wrong: string | undefined;
}

export interface Target {
  readonly kind: Answer['kind'];
  readonly path: string;
  readonly token?: string | undefined;
}

const PAUSE_MS = 20;
const ATTEMPTS_MAX = 50;

export class Traffic {
  readonly answers: Answer[] = [];
  readonly #clients: Promise<void>[];
  #isOver = false;

  private constructor(clients: (isOver: () => boolean, answers: Answer[]) => Promise<void>[]) {
    this.#clients = clients(() => this.#isOver, this.answers);
  }

  /** Requests each target once to record the correct response, then repeatedly. */
  static async start(baseUrl: string, targets: readonly Target[]): Promise<Traffic> {
    const right = await Promise.all(targets.map((target) => rightAnswer(baseUrl, target)));
    return new Traffic((isOver, answers) =>
      targets.map(async (target, i) => {
        while (!isOver()) {
          answers.push(await answerOf(baseUrl, target, right[i] ?? ''));
          await Bun.sleep(PAUSE_MS);
        }
      }),
    );
  }

  /** Waits until all responses have been 200 for the given time, including those for transactions, or until the timeout. */
  async untilCalm(calmMs: number, patienceMs: number): Promise<void> {
    const startedMs = performance.now();
    while (performance.now() - startedMs < patienceMs) {
      await Bun.sleep(50);
      const sinceMs = performance.now() - calmMs;
      const recent = this.answers.filter(({ endedMs }) => endedMs > sinceMs);
      // No responses do not mean success: a request may still be waiting for its 503.
      const isServed = recent.some(({ kind, status }) => kind === 'transactions' && status === 200);
      if (sinceMs > startedMs && isServed && recent.every(({ status }) => status === 200)) return;
    }
  }

  /** Waits for the given number of responses with any status, or until the timeout. */
  async untilAnswered(count: number, patienceMs: number): Promise<void> {
    const startedMs = performance.now();
    while (this.answers.length < count && performance.now() - startedMs < patienceMs) await Bun.sleep(10);
  }

  async stop(): Promise<readonly Answer[]> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return this.answers;
  }
}

/** On a busy machine, a node may need time to open all its connections, and returns 503 until then. */
async function rightAnswer(baseUrl: string, target: Target): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const response = await ask(baseUrl, target);
    if (response.status === 200) return response.text();
    await Bun.sleep(100);
  }
  throw new Error(`${target.path} is not answered before anything was done`);
}

async function answerOf(baseUrl: string, target: Target, right: string): Promise<Answer> {
  const startedMs = performance.now();
  const { kind } = target;
  try {
    const response = await ask(baseUrl, target);
    const body = await response.text();
    const { status } = response;
    return {
      kind,
      status,
      startedMs,
      endedMs: performance.now(),
      wrong: faultOf(response, body, kind, right),
    };
  } catch (error) {
    return { kind, status: 0, startedMs, endedMs: performance.now(), wrong: String(error) };
  }
}

function faultOf(response: Response, body: string, kind: Answer['kind'], right: string): string | undefined {
  if (response.status === 200) {
    // The database state in /readyz changes with the fault.
    return body === right || kind === 'health' ? undefined : `another body: ${body.slice(0, 200)}`;
  }
  const isProper503 =
    kind === 'transactions' &&
    response.status === 503 &&
    response.headers.has('Retry-After') &&
    (JSON.parse(body) as { code?: string }).code === 'unavailable';
  return isProper503 ? undefined : `${response.status} for ${kind}: ${body.slice(0, 200)}`;
}

function ask(baseUrl: string, { path, token }: Target): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return fetch(baseUrl + path, { headers });
}
