// Parses the servers, Unix sockets and TLS settings of a PostgreSQL URL as libpq does, and creates clients. Bun's client would
// send unsupported parameters to the server as settings, so it gets only supported ones. Messages never contain any part of the
// URL, not even a parameter name: if the password contains a question mark, the rest of the password looks like a parameter.

import { readFileSync } from 'node:fs';
import type { SQL } from 'bun';
import { StorageError } from '../../domain/storage-error.ts';

/** The client's TLS options, in addition to the sslmode in the URL. */
type Tls = SQL.TLSOptions | 'disable' | 'prefer';

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];
const SYSTEM_ROOTS = 'system';

/** Not passed to the client, except for the resulting sslmode. */
const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
/** Directory and port number of a Unix socket. */
const SOCKET_PARAMETERS = ['host', 'port'];
const DEFAULT_PORT = '5432';
/** Parameters passed to the client and the server. `options` can contain any other server setting. */
const PASSED_ON = ['channel_binding', 'application_name', 'search_path', 'options'];
/**
 * libpq parameters that are ignored instead of rejected, because hosted services put some of them into their URLs. This program
 * sets timeouts and the encoding and chooses the server itself. Bun's client does not support the rest; ignoring them does not
 * weaken the sslmode.
 */
const IGNORED = new Set([
  'client_encoding',
  'connect_timeout',
  'fallback_application_name',
  'gssencmode',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'sslcompression',
  'sslnegotiation',
  'sslsni',
  // With several servers, the pool queries each server's role.
  'target_session_attrs',
  'tcp_user_timeout',
]);

export interface PostgresUrl {
  readonly servers: readonly PostgresServer[];
  readonly tls: Tls;
}

export interface PostgresServer {
  /** URL for Bun's client: this server only, with supported parameters only. */
  readonly url: string;
  /** Path of the Unix socket, which replaces the host in the URL. */
  readonly socket: string | undefined;
  /** Address for messages, without the password. */
  readonly address: string;
}

/** Server addresses for messages, without the password. */
export function addressesOf({ servers }: PostgresUrl): string {
  return servers.map(({ address }) => address).join(',');
}

export function parsePostgresUrl(text: string): PostgresUrl {
  const [, address = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(text) ?? [];
  const settings = new URLSearchParams(query);
  requireKnown(settings);
  const get = (name: (typeof TLS_PARAMETERS)[number]) => settings.get(name) ?? undefined;
  const mode = parseMode(get('sslmode'), get('sslrootcert') === SYSTEM_ROOTS);
  const files = { ca: get('sslrootcert'), cert: get('sslcert'), key: get('sslkey') };
  const places = listServers(address, settings);
  // Like libpq, ignores sslmode on a Unix socket, which cannot be intercepted.
  const isSocket = places.some(({ socket }) => socket !== undefined);
  const { sslmode, tls } = tlsFor(
    isSocket ? 'disable' : mode,
    places.map(({ host }) => host),
    files,
  );
  const rest = new URLSearchParams([...settings].filter(([name]) => PASSED_ON.includes(name)));
  rest.set('sslmode', sslmode);
  if (!rest.has('application_name')) rest.set('application_name', 'offerbook');
  return { servers: places.map(({ host: _, url, ...place }) => ({ ...place, url: `${url}?${rest}` })), tls };
}

function requireKnown(settings: URLSearchParams): void {
  const known = [...TLS_PARAMETERS, ...SOCKET_PARAMETERS, ...PASSED_ON];
  if ([...settings.keys()].every((name) => known.includes(name) || IGNORED.has(name))) return;
  throw settingsError(`the database URL has an unknown parameter; supported parameters: ${known.join(', ')}`);
}

/** Like libpq, requires verify-full with system roots: anyone can get a certificate for some other name from a public CA. */
function parseMode(text: string | undefined, usesSystemRoots: boolean): SslMode {
  if (text === undefined) return usesSystemRoots ? 'verify-full' : 'prefer';
  const mode = SSL_MODES.find((known) => known === text);
  if (usesSystemRoots && mode !== undefined && mode !== 'verify-full')
    throw settingsError('sslrootcert=system in the database URL requires sslmode=verify-full');
  if (mode === undefined)
    throw settingsError(`the database URL has an unknown sslmode; supported modes: ${SSL_MODES.join(', ')}`);
  return mode;
}

function tlsFor(
  mode: SslMode,
  hosts: readonly string[],
  files: Record<'ca' | 'cert' | 'key', string | undefined>,
): { sslmode: SslMode; tls: Tls } {
  if (mode === 'disable') return { sslmode: mode, tls: 'disable' };
  if (mode === 'allow' || mode === 'prefer') return { sslmode: 'prefer', tls: 'prefer' };
  const ca = files.ca === SYSTEM_ROOTS ? undefined : readSetting('sslrootcert', files.ca);
  const cert = readSetting('sslcert', files.cert);
  const key = readSetting('sslkey', files.key);
  // Like libpq, treats "require" with a root certificate as "verify-ca".
  const verifiesChain = mode !== 'require' || ca !== undefined;
  const verifiesName = mode === 'verify-full';
  // Loaded lazily: every command loads this file, and few need node:net.
  const isAddress = (host: string) => process.getBuiltinModule('node:net').isIP(host) !== 0;
  if (verifiesName && hosts.length > 1 && hosts.some(isAddress))
    throw settingsError(
      'with sslmode=verify-full and several servers, the database URL must have host names, not IP addresses',
    );
  return {
    sslmode: verifiesName ? 'verify-full' : verifiesChain ? 'verify-ca' : 'require',
    tls: {
      rejectUnauthorized: verifiesChain,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(verifiesChain && !verifiesName && { checkServerIdentity: () => undefined }),
    },
  };
}

function readSetting(setting: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw settingsError(`the ${setting} file named in the database URL cannot be read`, { cause });
  }
}

interface ListedServer extends PostgresServer {
  readonly host: string;
}

/** Splits `postgres://user@one:5432,two:5433/name` into one URL per server. */
function listServers(address: string, settings: URLSearchParams): ListedServer[] {
  const [, before = '', list = '', after = ''] = /^([^/]*:\/\/(?:[^/]*@)?)([^/@]*)(.*)$/s.exec(address) ?? [];
  const servers = list.split(',').map((server) => {
    const [, host = '', port = ''] = /^(\[.*\]|[^:]*):?(.*)$/s.exec(server) ?? [];
    return { server, host, port };
  });
  const sockets = servers.map(({ host, port }) => socketOf(host, port, settings));
  if (servers.length > 1 && sockets.some((socket) => socket !== undefined))
    throw settingsError('a Unix socket cannot be one of several servers in the database URL');
  return servers.map(({ server, host }, place) => {
    const socket = sockets[place];
    return {
      url: before + (socket === undefined ? server : 'localhost') + after,
      socket,
      address: socket ?? server,
      host: host.replace(/^\[(.*)\]$/s, '$1'),
    };
  });
}

/** Like libpq, treats a host that starts with a slash as a directory: `?host=/run/postgresql` or `%2Frun%2Fpostgresql`. */
function socketOf(host: string, port: string, settings: URLSearchParams): string | undefined {
  const directory = settings.get('host') ?? host.replaceAll(/%2f/gi, '/');
  if (directory.startsWith('/'))
    return `${directory}/.s.PGSQL.${settings.get('port') || port || DEFAULT_PORT}`;
  if (!SOCKET_PARAMETERS.some((name) => settings.has(name))) return undefined;
  throw settingsError(
    'the host and port parameters of the database URL are for Unix sockets; host must be a directory such as /run/postgresql',
  );
}

/** Creates a client for one of the servers of a URL. */
export function newClient(
  { url, socket }: PostgresServer,
  { tls }: PostgresUrl,
  options: SQL.PostgresOrMySQLOptions,
): SQL {
  try {
    // Set explicitly, because Bun prefers PGDATABASE to the name in the URL.
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    // Uses the global, because importing SQL as a value would load the client at the start of every command, even with SQLite.
    return new Bun.SQL({
      ...options,
      adapter: 'postgres',
      url,
      tls,
      ...(socket !== undefined && { path: socket }),
      ...(database !== '' && { database }),
    });
  } catch {
    // Omits the parser's message, which contains the password.
    throw settingsError(
      'the database URL is malformed; it must look like postgres://user:password@host:5432/name',
    );
  }
}

function settingsError(message: string, options?: ErrorOptions): StorageError {
  return new StorageError('settings', message, options);
}
