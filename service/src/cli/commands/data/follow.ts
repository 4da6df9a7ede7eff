// offerbook follow: prints an organisation's transactions as they change. It uses the HTTP API, like any other client. With
// a checkpoint file it resumes where it stopped; the checkpoint advances only after the changes have been printed.

import {
  ApiError,
  CheckpointError,
  type FollowOptions,
  MalformedResponseError,
  OfferbookClient,
  OfferbookError,
  TimeoutError,
  TokenError,
  type Transaction,
} from '@offerbook/client';
import { fileCheckpoint } from '@offerbook/client/node';
import { printJson } from '@offerbook/wire/decimal.ts';
import { BadInput, ServiceFailure } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { readPrivateToken } from '../../../config.ts';
import { plainCommand } from '../../command.ts';
import { stopSignal } from '../../node/signals.ts';
import { parsePositiveDurationMs } from '../../option-values.ts';
import { print, printable, printNote, terminalWidth } from '../../output.ts';

interface FollowCommandOptions {
  readonly url: string;
  readonly checkpoint?: string;
  readonly once?: boolean;
  readonly interval: string;
  readonly json?: boolean;
}

export function followCommand(): Command {
  return plainCommand(
    'follow',
    'print transactions as they change; set OFFERBOOK_PRIVATE_TOKEN',
    'offerbook follow --checkpoint position.txt >> changes.ndjson',
  )
    .option('--url <url>', 'URL of the service', 'http://127.0.0.1:8080')
    .option('--checkpoint <file>', 'file that stores the position, so that the next run continues there')
    .option('--once', 'print the changes so far, then exit')
    .option('--interval <duration>', 'longest pause between polls', '10s')
    .option('--json', 'print NDJSON (the default unless stdout is a terminal)')
    .action(followTransactions);
}

async function followTransactions(options: FollowCommandOptions): Promise<void> {
  const intervalMs = parsePositiveDurationMs('--interval', options.interval);
  const client = buildClient(options.url);
  const printer = options.json === true || !process.stdout.isTTY ? jsonPrinter() : tablePrinter();
  const stop = new AbortController();
  void stopSignal().then(() => stop.abort());
  const settings: FollowOptions = {
    store: options.checkpoint === undefined ? undefined : fileCheckpoint(options.checkpoint),
    once: options.once === true,
    intervalMs,
    signal: stop.signal,
    onError: (error, retryInMs) => {
      const message = error instanceof OfferbookError ? clientMessage(error) : String(error);
      printNote(`offerbook: ${message} Trying again in ${(retryInMs / 1000).toFixed(1)} s.`);
    },
  };
  try {
    // Fetching the next page moves the checkpoint past this page, so print this page first.
    for await (const { data } of client.followTransactions(settings).pages()) await printer(data);
  } catch (error) {
    throw asFailure(error);
  }
}

function buildClient(url: string): OfferbookClient {
  const found = readPrivateToken();
  if (found === undefined)
    throw new BadInput('set OFFERBOOK_PRIVATE_TOKEN; tokens are never passed as arguments');
  try {
    return new OfferbookClient({ baseUrl: url, token: found.token });
  } catch (error) {
    throw error instanceof TypeError
      ? new BadInput(error.message.replace('baseUrl', '--url'), { cause: error })
      : asFailure(error);
  }
}

/** Exit code 2 for errors that the user can fix (tokens, checkpoints, URLs), 1 for an outage. */
function asFailure(error: unknown): unknown {
  const isRefused =
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
  const isInvalid =
    error instanceof TokenError ||
    error instanceof CheckpointError ||
    error instanceof MalformedResponseError;
  if (isInvalid || isRefused) return new BadInput(clientMessage(error), { cause: error });
  return error instanceof OfferbookError ? new ServiceFailure(clientMessage(error), { cause: error }) : error;
}

/** Rewords the client library's messages, which are written for programmers. */
function clientMessage(error: OfferbookError): string {
  if (error instanceof TimeoutError) return 'The service did not respond in time.';
  if (!(error instanceof TokenError)) return error.message;
  const { variable } = readPrivateToken() ?? { variable: 'OFFERBOOK_PRIVATE_TOKEN' };
  return error.code === 'wrong_token_kind'
    ? `${variable} is a public token. Transactions need a private token, which starts with ob_prv_.`
    : `${variable} is not a token. A private token is ob_prv_ followed by 36 letters and digits; check that it was copied completely.`;
}

type Printer = (page: readonly Transaction[]) => Promise<void>;

function jsonPrinter(): Printer {
  return (page) => print(page.map((transaction) => `${printJson(transaction)}\n`).join(''));
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly cell: (transaction: Transaction) => string;
}

const INDENT = '  ';

const COLUMNS: readonly Column[] = [
  { title: 'UPDATED', width: 23, cell: (t) => t.updatedAt },
  { title: 'STATUS', width: 9, cell: (t) => t.status },
  { title: 'ORDER', width: 14, cell: (t) => `${printJson(t.orderValue)} ${t.currencyCode}` },
  { title: 'CASHBACK', width: 14, cell: (t) => `${printJson(t.cashback)} ${t.currencyCode}` },
  { title: 'USER', width: 16, cell: (t) => t.passbackUid ?? '' },
  { title: 'ID', width: 36, cell: (t) => t.id },
];

/**
 * Columns have fixed widths, because rows are printed as they arrive. On a terminal that is too narrow for all columns, a row
 * takes several lines, indented from the second line on.
 */
function tablePrinter(): Printer {
  const lines = linesThatFit(terminalWidth());
  const row = (text: (column: Column) => string) =>
    lines
      .map(
        (columns, i) =>
          (i === 0 ? '' : INDENT) + columns.map((one) => text(one).padEnd(one.width)).join('  '),
      )
      .map((line) => `${line.trimEnd()}\n`)
      .join('');
  let header = row(({ title }) => title);
  return async (page) => {
    await print(header + page.map((t) => row(({ cell }) => printable(cell(t)))).join(''));
    header = '';
  };
}

/** Distributes the columns over as few lines as the width allows. */
function linesThatFit(widthMax: number): readonly (readonly Column[])[] {
  const lines: Column[][] = [[]];
  let width = -2;
  for (const column of COLUMNS) {
    width += 2 + column.width;
    if (width > widthMax && width > column.width) {
      lines.push([]);
      width = INDENT.length + column.width;
    }
    lines.at(-1)?.push(column);
  }
  return lines;
}
