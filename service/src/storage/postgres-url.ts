// Reads what a PostgreSQL URL says about TLS, with the meaning that PostgreSQL's own programs give it. The
// driver knows only some of it, and would send the rest to the server as settings. A URL is never repeated in
// a message: it holds a password.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { BadInput } from '../domain/errors.ts';

/** What the driver is told: no TLS, TLS if the server has it, or TLS with these settings. */
export type Tls = false | 'prefer' | TlsSettings;

export interface TlsSettings {
  readonly rejectUnauthorized: boolean;
  /** The name that the certificate must carry. */
  readonly host: string;
  readonly servername?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly checkServerIdentity?: () => undefined;
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

export function parsePostgresUrl(text: string): { url: string; tls: Tls } {
  const [address = '', query = ''] = text.split('?', 2);
  const settings = new URLSearchParams(query);
  const take = (name: string) => {
    const value = settings.get(name);
    settings.delete(name);
    return value ?? undefined;
  };
  const mode = parseMode(take('sslmode'));
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') };
  const rest = settings.toString();
  return { url: rest === '' ? address : `${address}?${rest}`, tls: tlsFor(mode, hostOf(address), files) };
}

function parseMode(text: string | undefined): SslMode {
  if (text === undefined) return 'prefer';
  const mode = SSL_MODES.find((known) => known === text);
  if (mode === undefined) {
    throw new BadInput(`the database URL has an unknown sslmode; it can be ${SSL_MODES.join(', ')}`);
  }
  return mode;
}

function tlsFor(mode: SslMode, host: string, files: Record<'ca' | 'cert' | 'key', string | undefined>): Tls {
  if (mode === 'disable') return false;
  if (mode === 'allow' || mode === 'prefer') return 'prefer';
  const useSystemRoots = files.ca === 'system';
  const ca = useSystemRoots ? undefined : readSetting('sslrootcert', files.ca);
  const cert = readSetting('sslcert', files.cert);
  const key = readSetting('sslkey', files.key);
  // With a root certificate at hand, "require" checks the chain as "verify-ca" does: so says libpq.
  const verifiesChain = mode !== 'require' || ca !== undefined;
  const verifiesName = mode === 'verify-full' || (useSystemRoots && mode !== 'require');
  return {
    rejectUnauthorized: verifiesChain,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(!verifiesName && { checkServerIdentity: () => undefined }),
  };
}

function readSetting(setting: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new BadInput(`the file that ${setting} names in the database URL cannot be read`, { cause });
  }
}

/** The first host of the address, without user, port and path. */
function hostOf(address: string): string {
  const authority = address.slice(address.indexOf('://') + 3).split('/')[0] ?? '';
  const first = authority.slice(authority.lastIndexOf('@') + 1).split(',')[0] ?? '';
  return first.startsWith('[') ? first.slice(1, first.indexOf(']')) : (first.split(':')[0] ?? '');
}
