// Says what PostgreSQL's or the socket's own errors mean to us. No message repeats the URL or a password.

import { BadInput, DatabaseUnavailable } from '../../domain/failures.ts';
import { busy } from '../database.ts';

interface DriverError {
  readonly code?: unknown;
  readonly severity?: unknown;
}

/** What the socket or the driver reports when there is no connection, or none any more. */
const NO_CONNECTION = /^(CONNECTION_|CONNECT_TIMEOUT$|E[A-Z]+$)/;
/** Not from the socket or the driver, but with a code as theirs have. */
const BROKEN_OFF = 'ANSWER_BROKEN_OFF';
const CUT_OFF = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01', BROKEN_OFF]);
/** Names of certificate faults, as OpenSSL and Node spell them. */
const CERTIFICATE_FAULT = /CERT|VERIFY|SIGNATURE/;

/** Whether the connection is gone, so that nothing more may be sent on it. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as DriverError;
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  return typeof code === 'string' && NO_CONNECTION.test(code);
}

/**
 * Whether there was a connection that somebody else has ended: the server, its operator or the network. Or one whose
 * driver has lost count.
 */
export function isCutOff(error: unknown): boolean {
  const { code } = (error ?? {}) as DriverError;
  return typeof code === 'string' && CUT_OFF.has(code);
}

/** What came is not what the server says that it has sent. */
export function answerBrokenOff(): Error {
  return Object.assign(new Error('an answer has not come as it was sent'), { code: BROKEN_OFF });
}

export function explainPostgres(error: unknown): unknown {
  const code = (error as DriverError | null)?.code;
  if (typeof code !== 'string') return error;
  const message = error instanceof Error ? error.message : code;
  // A lock that did not come free in time, or two writers that wait for each other.
  if (code === '55P03' || code === '40P01') return busy(error);
  if (/^(28|3D000$|3F000$)/.test(code)) {
    return new BadInput(`PostgreSQL refuses the connection: ${message}`, { cause: error });
  }
  if (code === '42501' || code === '25006') {
    return new BadInput(`PostgreSQL does not allow this to its user: ${message}`, { cause: error });
  }
  if (code === 'ECONNRESET' && message.includes('TLS')) {
    return new DatabaseUnavailable(
      'PostgreSQL does not answer over TLS, which the sslmode in the database URL asks for',
      { cause: error },
    );
  }
  if (CERTIFICATE_FAULT.test(code)) {
    return new BadInput(`PostgreSQL's certificate is not accepted: ${message}`, { cause: error });
  }
  if (code === '0A000' && message.includes('during recovery')) {
    return new DatabaseUnavailable('PostgreSQL is a standby, and the primary is not known', { cause: error });
  }
  // No connection, a broken one, out of resources, shutting down, too slow.
  return NO_CONNECTION.test(code) || code === BROKEN_OFF || /^(08|53|57P|57014)/.test(code)
    ? new DatabaseUnavailable(`PostgreSQL cannot be used (${message})`, { cause: error })
    : error;
}
