// Maps errors of PostgreSQL, its client and the socket to StorageErrors. No message contains the URL or a password.

import { StorageError } from '../../domain/storage-error.ts';
import { busy } from '../database.ts';

interface DriverError {
  readonly code?: unknown;
  /** SQLSTATE, if the server sent the error. */
  readonly errno?: unknown;
}

/** Client errors: connecting failed, or the connection was lost. */
const NO_CONNECTION = /^(ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)|E[A-Z]+$)/;
const CUT_OFF = new Set(['ERR_POSTGRES_CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01']);
/** Prepared statement already exists, or does not exist: a pooler has switched connections. */
const MIXED_UP_STATEMENTS = new Set(['42P05', '26000']);
/** Client errors: unsupported or invalid authentication by the server. */
const LOGIN_FAULT =
  /^ERR_POSTGRES_(AUTHENTICATION|CHANNEL_BINDING|INVALID_SERVER|SASL|UNKNOWN_AUTH|UNSUPPORTED_AUTH)/;
/** Certificate error codes of OpenSSL and Node. */
const CERTIFICATE_FAULT = /CERT|VERIFY|SIGNATURE/;

function codeOf(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as DriverError;
  if (typeof errno === 'string') return errno;
  return typeof code === 'string' ? code : undefined;
}

/** True if an open connection was closed by the server, its operator or the network. */
export function isCutOff(error: unknown): boolean {
  return CUT_OFF.has(codeOf(error) ?? '');
}

/** True if connecting failed or the connection was lost. */
export function isConnectionLoss(error: unknown): boolean {
  return isCutOff(error) || NO_CONNECTION.test(codeOf(error) ?? '');
}

export function explainPostgres(error: unknown, servers: string): unknown {
  const code = codeOf(error);
  // Bun sets no code on this error.
  if (error instanceof Error && /^Invalid (CA|cert|key)/i.test(error.message))
    return new StorageError(
      'settings',
      'a file that sslrootcert, sslcert or sslkey names in the database URL is not valid PEM',
      { cause: error },
    );
  if (code === undefined) return error;
  const message = error instanceof Error ? error.message : code;
  const cause = { cause: error };
  // Lock timeout or deadlock.
  if (code === '55P03' || code === '40P01') return busy(error);
  if (/^(28|3D000$|3F000$)/.test(code))
    return new StorageError('denied', `PostgreSQL refuses the connection: ${message}`, cause);
  if (code === '42501' || code === '25006')
    return new StorageError('denied', `PostgreSQL does not allow this to its user: ${message}`, cause);
  if (MIXED_UP_STATEMENTS.has(code))
    return new StorageError(
      'settings',
      'a pool before PostgreSQL gives every transaction another connection; let it keep one for a session (PgBouncer: pool_mode = session)',
      cause,
    );
  if (message.includes('unsupported startup parameter'))
    return new StorageError(
      'settings',
      `a pool before PostgreSQL does not let our settings through (${message}); PgBouncer has ignore_startup_parameters for that`,
      cause,
    );
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE')
    return new StorageError(
      'unavailable',
      'PostgreSQL does not answer over TLS, which the sslmode in the database URL asks for',
      cause,
    );
  if (LOGIN_FAULT.test(code))
    return new StorageError('settings', `PostgreSQL's way to log in is not accepted: ${message}`, cause);
  if (CERTIFICATE_FAULT.test(code))
    return new StorageError('settings', `PostgreSQL's certificate is not accepted: ${message}`, cause);
  if (code === '0A000' && message.includes('during recovery'))
    return new StorageError('unavailable', 'PostgreSQL is a standby, and the primary is not known', cause);
  if (NO_CONNECTION.test(code))
    return new StorageError('unavailable', `PostgreSQL at ${servers} cannot be used (${message})`, cause);
  if (code === '53100') return new StorageError('full', `the disk of PostgreSQL is full (${message})`, cause);
  // A table or column is missing.
  if (/^(42P01|42703)$/.test(code))
    return new StorageError('invalid', `PostgreSQL does not have Offerbook's tables (${message})`, cause);
  if (/^(XX001|XX002|58)/.test(code))
    return new StorageError('corrupt', `PostgreSQL cannot read its files (${message})`, cause);
  // Connection lost, out of resources, shutting down, or statement timeout.
  return /^(08|53|57P|57014)/.test(code)
    ? new StorageError('unavailable', `PostgreSQL cannot be used (${message})`, cause)
    : error;
}
