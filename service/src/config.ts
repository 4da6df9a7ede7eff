// The only reader of the environment. A setting of `serve` is a flag or an OFFERBOOK_* variable of the same
// name; the flag wins; anything unknown or bad stops the start with one sentence.

import { BadInput } from '@offerbook/wire/failures.ts';
import { LOG_LEVELS } from './domain/logger.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './domain/page.ts';
import { clientReader } from './http/access/client-address.ts';
import { LOGGED_REQUESTS } from './http/request-log.ts';
import { parseTracingSettings, type TracingSettings } from './tracing/tracing-settings.ts';

const DATABASE_DEFAULT = 'sqlite:./offerbook.db';

const PORT_MAX = 65_535;

interface Setting<T> {
  /** What it is for, as --help shows it. */
  readonly help: string;
  readonly argument: string;
  readonly fallback: string;
  readonly parse: (text: string) => T;
}

const SETTINGS = {
  port: setting('port to listen on; 0 takes any free one', 'number', wholeNumber(0, PORT_MAX), '8080'),
  host: setting('address to listen on', 'address', filled, '127.0.0.1'),
  workers: setting('threads that share the port, 1 to 64', 'number', wholeNumber(1, 64), '1'),
  pageSize: setting(
    `items on a page unless the caller sends a limit, 1 to ${PAGE_SIZE_MAX}`,
    'number',
    wholeNumber(1, PAGE_SIZE_MAX),
    String(PAGE_SIZE_DEFAULT),
  ),
  adminPort: setting(
    'port for the console, /metrics, /livez and /readyz; none unless given',
    'number',
    optional(wholeNumber(1, PORT_MAX)),
  ),
  adminHost: setting(
    'address of that port; any but this machine itself needs --admin-token-file',
    'address',
    filled,
    '127.0.0.1',
  ),
  adminTokenFile: setting(
    'file with the secret that the console and /metrics ask for',
    'file',
    optional(filled),
  ),
  replicaUrl: setting(
    'a read replica of the PostgreSQL database, for pages of transactions',
    'url',
    optional(postgresUrl),
  ),
  publicUrl: setting(
    'where callers reach the service, when a proxy stands before it',
    'url',
    optional(webOrigin),
  ),
  currency: setting(
    'currency of fixed cashbacks, ISO 4217, such as EUR, for the reference and the explorer',
    'code',
    optional(currencyCode),
  ),
  drainDelay: setting(
    'seconds to go on serving after SIGTERM, for load balancers that ask /readyz, 0 to 300',
    'seconds',
    wholeNumber(0, 300),
    '0',
  ),
  logRequests: setting(
    `which requests leave a line in the log: ${LOGGED_REQUESTS.join(', ')}`,
    'which',
    oneOf(LOGGED_REQUESTS),
    'all',
  ),
  logLevel: setting(`one of ${LOG_LEVELS.join(', ')}`, 'level', oneOf(LOG_LEVELS), 'info'),
  rateLimitPublic: rateLimit('requests a minute for each public token and address', '6000'),
  rateLimitPrivate: rateLimit('requests a minute for each private token', '6000'),
  rateLimitFailedAuth: rateLimit('failed authentications a minute for each address', '600'),
  rateLimitActivation: rateLimit(
    'activations per minute per address and organisation; above it links redirect untracked and POST gets 429',
    '120',
  ),
  rateLimitActivationOrg: rateLimit(
    'activations per minute per organisation, over all addresses; above it as above',
    '6000',
  ),
  activation: onUnlessOff('whether deals can be activated, by links that users follow'),
  spool: setting(
    'folder for clicks while the database is away (default: that of the SQLite database, else the working folder)',
    'folder',
    optional(filled),
  ),
  diskReserve: setting(
    'free MB below which clicks are not recorded, on the disks of the spool and of an SQLite database; 0 = off',
    'number',
    wholeNumber(0, 1e9),
    '256',
  ),
  trustedProxies: setting(
    'addresses and CIDR ranges whose X-Forwarded-For and X-Forwarded-Proto are believed, separated by commas',
    'list',
    proxies,
  ),
  explorer: onUnlessOff('whether the page at / shows the catalogue'),
  explorerLogos: setting(
    'origins from which that page may load logos, separated by commas, or https: for all',
    'list',
    logoSources,
  ),
};

type SettingName = keyof typeof SETTINGS;
export type ServeSettings = { readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

/** The flags of `serve`, for its command line. */
export const SERVE_FLAGS = (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
  flag: `--${hyphenated(name)} <${SETTINGS[name].argument}>`,
  help:
    SETTINGS[name].help + (SETTINGS[name].fallback === '' ? '' : ` (default: ${SETTINGS[name].fallback})`),
}));

const OTHER_VARIABLES = ['OFFERBOOK_DATABASE_URL', 'OFFERBOOK_TO_URL', 'OFFERBOOK_TOKEN'];

type Environment = Readonly<Record<string, string | undefined>>;

export function readServeSettings(
  flags: Readonly<Record<string, unknown>>,
  variables: Environment = process.env,
): ServeSettings {
  const environment = withoutServiceLinks(variables);
  const names = Object.keys(SETTINGS) as SettingName[];
  const known = new Set([...names.map(variable), ...OTHER_VARIABLES]);
  const unknown = Object.keys(environment).find((name) => name.startsWith('OFFERBOOK_') && !known.has(name));
  if (unknown !== undefined)
    throw new BadInput(`${unknown} is not a setting of Offerbook; see offerbook serve --help`);
  const settings = Object.fromEntries(
    names.map((name) => {
      const { parse, fallback } = SETTINGS[name];
      const flag = flags[name];
      const source = flag === undefined ? variable(name) : `--${hyphenated(name)}`;
      try {
        return [name, parse(String(flag ?? environment[variable(name)] ?? fallback))];
      } catch (error) {
        throw new BadInput(`${source} ${(error as Error).message}`, { cause: error });
      }
    }),
  ) as unknown as ServeSettings;
  requireTwoPorts(settings);
  requireAdminToken(settings);
  return settings;
}

function requireTwoPorts({ port, adminPort }: ServeSettings): void {
  if (port !== adminPort) return;
  throw new BadInput(`port ${port} is the --port and also the --admin-port; choose another for one of them`);
}

/** The console shows every organisation's data: nobody but this machine may see it without the secret. */
function requireAdminToken({ adminHost, adminTokenFile }: ServeSettings): void {
  if (isLoopback(adminHost) || adminTokenFile !== undefined) return;
  throw new BadInput(
    `--admin-host ${adminHost} can be reached from other machines; it needs --admin-token-file`,
  );
}

/** Whether an address, or the name for it, is of this machine alone. In a URL, one of IPv6 has brackets. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/**
 * Kubernetes tells every container of the Services beside it. Of one whose name begins with `offerbook`, the variables
 * look like settings of ours.
 */
function withoutServiceLinks(environment: Environment): Environment {
  const isServiceLink = ([name, value = '']: readonly [string, string | undefined]) =>
    /_SERVICE_(HOST$|PORT$|PORT_)/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value));
  return Object.fromEntries(Object.entries(environment).filter((entry) => !isServiceLink(entry)));
}

export function readDatabaseUrl(flag: string | undefined, fallback = DATABASE_DEFAULT): string {
  return flag ?? process.env.OFFERBOOK_DATABASE_URL ?? fallback;
}

/** The database that `copy` fills; its URL may hold a password, so it need not be an argument. */
export function readTargetUrl(flag: string | undefined): string | undefined {
  return flag ?? process.env.OFFERBOOK_TO_URL;
}

/** Where spans are sent; undefined when nobody has asked for any. */
export function readTracingSettings(): TracingSettings | undefined {
  return parseTracingSettings(process.env);
}

/** Where servers keep clicks that the database does not take, for a backup of them. */
export function readSpoolFolder(flag: string | undefined): string | undefined {
  return flag ?? process.env.OFFERBOOK_SPOOL;
}

/** The token of `follow`: from the environment, because what is an argument can be seen by everyone on the machine. */
export function readToken(): string | undefined {
  return process.env.OFFERBOOK_TOKEN;
}

/** One without a fallback may be left out. */
function setting<T>(help: string, argument: string, parse: (text: string) => T, fallback = ''): Setting<T> {
  return { help, argument, fallback, parse };
}

function rateLimit(help: string, fallback: string): Setting<number> {
  return setting(`${help}; 0 = off`, 'number', wholeNumber(0, 1e9), fallback);
}

function onUnlessOff(help: string): Setting<'on' | 'off'> {
  return setting(`on or off: ${help}`, 'switch', oneOf(['on', 'off']), 'on');
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    if (!/^\d{1,10}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new Error(`must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return Number(text);
  };
}

function filled(text: string): string {
  if (text.trim() === '') throw new Error('must not be empty');
  return text;
}

function optional<T>(parse: (text: string) => T) {
  return (text: string): T | undefined => (text === '' ? undefined : parse(text));
}

function oneOf<const T extends string>(values: readonly T[]) {
  return (text: string): T => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new Error(`must be one of ${values.join(', ')}, not "${text}"`);
    return found;
  };
}

/** Not repeated when it is bad: it may hold a password. */
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Error('must be a URL such as postgres://user@host/name');
  return text;
}

function currencyCode(text: string): string {
  if (!/^[A-Z]{3}$/.test(text))
    throw new Error(`must be a currency code of three capital letters, such as EUR, not "${text}"`);
  return text;
}

/** Pages and links know no path before theirs. */
function webOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new Error(`must be a URL without a path, such as https://api.example, not "${text}"`);
  }
  return url.origin;
}

function proxies(text: string): readonly string[] {
  const ranges = listed(text);
  clientReader(ranges);
  return ranges;
}

function logoSources(text: string): readonly string[] {
  const sources = listed(text);
  const bad = sources.find(
    (source) =>
      source !== 'https:' &&
      !(/^https?:/.test(source) && URL.canParse(source) && new URL(source).origin === source),
  );
  if (bad !== undefined) {
    throw new Error(`must list origins such as https://cdn.example, or be https:; "${bad}" is neither`);
  }
  return sources;
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function hyphenated(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function variable(name: SettingName): string {
  return `OFFERBOOK_${hyphenated(name).replaceAll('-', '_').toUpperCase()}`;
}
