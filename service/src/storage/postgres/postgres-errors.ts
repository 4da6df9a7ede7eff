// Maps errors from PostgreSQL, its client and the socket to StorageErrors. Messages never contain the URL or a password.

import { StorageError, type StorageErrorKind } from '../../domain/storage-error.ts';
import { busy } from '../database.ts';

/** Client errors: the connection failed or was lost. */
const NO_CONNECTION = /^(ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)|E[A-Z]+$)/;
const CUT_OFF = new Set(['ERR_POSTGRES_CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01']);
/** A prepared statement already exists or is missing: a pooler has switched connections. */
const MIXED_UP_STATEMENTS = new Set(['42P05', '26000']);
/** Client errors: the server requires an unsupported authentication method. */
const LOGIN_FAULT =
  /^ERR_POSTGRES_(AUTHENTICATION|CHANNEL_BINDING|INVALID_SERVER|SASL|UNKNOWN_AUTH|UNSUPPORTED_AUTH)/;
/** Certificate error codes of OpenSSL and Node. */
const CERTIFICATE_FAULT = /CERT|VERIFY|SIGNATURE/;

/** Returns the SQLSTATE if the server sent the error, otherwise the client's code. */
function codeOf(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
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
  const failure = (kind: StorageErrorKind, message: string) =>
    new StorageError(kind, message, { cause: error });
  // Bun sets no code on this error.
  if (error instanceof Error && /^Invalid (CA|cert|key)/i.test(error.message))
    return failure(
      'settings',
      'the sslrootcert, sslcert or sslkey file named in the database URL is not valid PEM',
    );
  if (code === undefined) return error;
  const message = error instanceof Error ? error.message : code;
  // Lock timeout or deadlock.
  if (code === '55P03' || code === '40P01') return busy(error);
  if (/^(28|3D000$|3F000$)/.test(code))
    return failure('denied', `PostgreSQL rejected the connection: ${message}`);
  if (code === '42501' || code === '25006')
    return failure('denied', `the PostgreSQL user lacks a privilege: ${message}`);
  // One INSERT … ON CONFLICT has two rows with the same key.
  if (code === '21000') return failure('conflict', 'two rows in this write have the same id');
  if (MIXED_UP_STATEMENTS.has(code))
    return failure(
      'settings',
      'the connection pooler is in transaction mode; use session mode (PgBouncer: pool_mode = session)',
    );
  if (message.includes('unsupported startup parameter'))
    return failure(
      'settings',
      `the connection pooler rejects our connection settings (${message}); list them in PgBouncer's ignore_startup_parameters`,
    );
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE')
    return failure(
      'unavailable',
      'PostgreSQL does not support TLS, which the sslmode in the database URL requires',
    );
  if (LOGIN_FAULT.test(code))
    return failure('settings', `PostgreSQL's authentication method is not supported: ${message}`);
  if (CERTIFICATE_FAULT.test(code))
    return failure('settings', `PostgreSQL's certificate is not trusted: ${message}`);
  if (code === '0A000' && message.includes('during recovery'))
    return failure('unavailable', 'PostgreSQL is a standby, not the primary');
  if (NO_CONNECTION.test(code))
    return failure('unavailable', `PostgreSQL at ${servers} is unavailable (${message})`);
  if (code === '53100') return failure('full', `PostgreSQL's disk is full (${message})`);
  // A table or column is missing.
  if (/^(42P01|42703)$/.test(code))
    return failure('invalid', `PostgreSQL does not have Offerbook's tables (${message})`);
  if (/^(XX001|XX002|58)/.test(code))
    return failure('corrupt', `PostgreSQL cannot read its files (${message})`);
  // Connection lost, out of resources, shutting down, or statement timeout.
  return /^(08|53|57P|57014)/.test(code)
    ? failure('unavailable', `PostgreSQL is unavailable (${message})`)
    : error;
}
