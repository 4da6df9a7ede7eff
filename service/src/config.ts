// The settings of `serve`. Each can be set with a flag or with an OFFERBOOK_* environment variable of the same name; the flag
// takes precedence. An unknown variable or an invalid value throws BadInput. No other module reads `process.env`.

import { BadInput } from '@offerbook/wire/failures.ts';
import { parsePositiveDuration } from './domain/clock.ts';
import { LOG_LEVELS } from './domain/logger.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './domain/page.ts';
import { clientReader } from './http/access/client-address.ts';
import { LOGGED_REQUESTS } from './http/request-log.ts';
import { parseTracingSettings, type TracingSettings } from './tracing/tracing-settings.ts';
import { addressRules } from './webhooks/address-rules.ts';

const PORT_MAX = 65_535;

const SETTINGS = {
  port: setting('port to listen on; 0 = any free port', 'number', wholeNumber(0, PORT_MAX), '8080'),
  host: setting('address to listen on', 'address', filled, '127.0.0.1'),
  workers: setting('threads that share the port, 1–64', 'number', wholeNumber(1, 64), '1'),
  pageSize: setting(
    `items per page if the request has no limit, 1–${PAGE_SIZE_MAX}`,
    'number',
    wholeNumber(1, PAGE_SIZE_MAX),
    String(PAGE_SIZE_DEFAULT),
  ),
  adminPort: setting(
    'port of the console, /metrics, /livez and /readyz',
    'number',
    optional(wholeNumber(1, PORT_MAX)),
  ),
  adminHost: setting(
    'address of the admin port; anything but loopback needs --admin-token-file',
    'address',
    filled,
    '127.0.0.1',
  ),
  adminTokenFile: setting('file with the secret for the console and /metrics', 'file', optional(filled)),
  replicaUrl: setting(
    'PostgreSQL read replica, from which pages of transactions are read',
    'url',
    optional(postgresUrl),
  ),
  publicUrl: setting('URL that clients use to reach the service through a proxy', 'url', optional(webOrigin)),
  currency: setting(
    'currency of fixed cashbacks in the API reference and the explorer, such as EUR',
    'code',
    optional(currencyCode),
  ),
  drainDelay: setting(
    'seconds to keep serving after SIGTERM while /readyz returns 503, 0–300',
    'seconds',
    wholeNumber(0, 300),
    '0',
  ),
  logRequests: setting(
    `requests to log: ${LOGGED_REQUESTS.join(', ')}`,
    'which',
    oneOf(LOGGED_REQUESTS),
    'all',
  ),
  logLevel: setting(`lowest level to log: ${LOG_LEVELS.join(', ')}`, 'level', oneOf(LOG_LEVELS), 'info'),
  rateLimitPublic: rateLimit('requests per minute per public token and address', '6000'),
  rateLimitPrivate: rateLimit('requests per minute per private token', '6000'),
  rateLimitFailedAuth: rateLimit('failed authentications per minute per address', '600'),
  rateLimitActivation: rateLimit(
    'activations per minute per address and organisation; above it links redirect untracked and POST gets 429',
    '120',
  ),
  rateLimitActivationOrg: rateLimit(
    'activations per minute per organisation, over all addresses; same effect as --rate-limit-activation',
    '6000',
  ),
  activation: onUnlessOff('activation links'),
  countTestClients: setting(
    'count clicks by headless browsers and HTTP libraries, for test servers: on or off',
    'switch',
    oneOf(['on', 'off']),
    'off',
  ),
  spool: setting(
    'folder for clicks while the database is unreachable (default: the folder of the SQLite database, or the working directory)',
    'folder',
    optional(filled),
  ),
  diskReserve: setting(
    'MB to keep free on the disks of the spool and the SQLite database; below it clicks are not recorded; 0 = off',
    'number',
    wholeNumber(0, 1e9),
    '256',
  ),
  trustedProxies: setting(
    'comma-separated addresses and CIDR ranges whose X-Forwarded-For and X-Forwarded-Proto are trusted',
    'list',
    list(clientReader),
  ),
  importMaxAge: setting(
    'age of the last successful import above which doctor, the console and the metrics warn',
    'duration',
    parsePositiveDuration,
    '2d',
  ),
  webhooks: onUnlessOff('sending of webhooks'),
  webhookNetworks: setting(
    'comma-separated addresses and CIDR ranges of private networks that webhooks may be sent to',
    'list',
    list(addressRules),
  ),
  explorer: onUnlessOff('catalogue explorer at /'),
  explorerLogos: setting(
    'comma-separated origins from which the explorer may load logos, or https: for all',
    'list',
    list(requireLogoSources),
  ),
};

type SettingName = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as SettingName[];
export type ServeSettings = { readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

/** The flags of `serve`. Each help text ends with the default and the environment variable, in Commander's format. */
export const SERVE_FLAGS = NAMES.map((name) => {
  const { argument, help, fallback } = SETTINGS[name];
  const extra = `${fallback === '' ? '' : `default: ${fallback}, `}env: ${variable(name)}`;
  return { flag: `--${hyphenated(name)} <${argument}>`, help: `${help} (${extra})` };
});

const OTHER_VARIABLES = [
  ...['OFFERBOOK_DATABASE_URL', 'OFFERBOOK_TO_URL', 'OFFERBOOK_OLD_URL', 'OFFERBOOK_TOKEN'],
  ...['OFFERBOOK_PUBLIC_TOKEN', 'OFFERBOOK_PRIVATE_TOKEN', 'OFFERBOOK_ORG_ID'],
];

type Environment = Readonly<Record<string, string | undefined>>;

export function readServeSettings(
  flags: Readonly<Record<string, unknown>>,
  variables: Environment = process.env,
): ServeSettings {
  const environment = withoutServiceLinks(variables);
  const known = new Set([...NAMES.map(variable), ...OTHER_VARIABLES]);
  const unknown = Object.keys(environment).find((name) => name.startsWith('OFFERBOOK_') && !known.has(name));
  if (unknown !== undefined)
    throw new BadInput(`${unknown} is not an Offerbook setting; see offerbook serve --help`);
  const settings = Object.fromEntries(
    NAMES.map((name) => {
      const { parse, fallback } = SETTINGS[name];
      const flag = flags[name];
      const source = flag === undefined ? variable(name) : `--${hyphenated(name)}`;
      const text = String(flag ?? environment[variable(name)] ?? fallback);
      return [name, forOption(source, () => parse(text))];
    }),
  ) as unknown as ServeSettings;
  const { port, adminPort, adminHost, adminTokenFile } = settings;
  if (port === adminPort) throw new BadInput(`--port and --admin-port are both ${port}; they must differ`);
  // The console shows every organisation's data, so access from other machines needs the secret.
  if (!isLoopback(adminHost) && adminTokenFile === undefined)
    throw new BadInput(
      `--admin-host ${adminHost} is reachable from other machines; also set --admin-token-file`,
    );
  if (adminTokenFile !== undefined && adminPort === undefined)
    throw new BadInput('--admin-token-file needs --admin-port, which serves the console and /metrics');
  return settings;
}

/** True for addresses and names that only this machine can reach. IPv6 addresses may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** Removes the variables that Kubernetes sets for a Service named `offerbook…`: they look like settings. */
function withoutServiceLinks(environment: Environment): Environment {
  const isServiceLink = ([name, value = '']: readonly [string, string | undefined]) =>
    /_SERVICE_(HOST$|PORT$|PORT_)/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value));
  return Object.fromEntries(Object.entries(environment).filter((entry) => !isServiceLink(entry)));
}

/** Undefined if tracing is off. */
export function readTracingSettings(): TracingSettings | undefined {
  return parseTracingSettings(process.env);
}

/**
 * The private token for `follow` and the variable that contains it. Tokens cannot be passed as arguments, because arguments are
 * visible to every user of the machine.
 */
export function readPrivateToken(): { readonly variable: string; readonly token: string } | undefined {
  const variable = ['OFFERBOOK_PRIVATE_TOKEN', 'OFFERBOOK_TOKEN'].find((name) => process.env[name]);
  return variable === undefined ? undefined : { variable, token: process.env[variable] ?? '' };
}

/** A variable that a source file names as the place of a secret. */
export function readSecretVariable(name: string): string | undefined {
  return process.env[name];
}

/** The tokens for `mcp`, by kind, and the organisation of its activation links. */
export function readAgentSettings() {
  const { OFFERBOOK_PUBLIC_TOKEN, OFFERBOOK_PRIVATE_TOKEN, OFFERBOOK_ORG_ID } = process.env;
  const tokens = {
    public: OFFERBOOK_PUBLIC_TOKEN || undefined,
    private: OFFERBOOK_PRIVATE_TOKEN || undefined,
  };
  return { tokens, orgId: OFFERBOOK_ORG_ID || undefined };
}

/** `help` is the description in --help; `fallback` is empty for a setting without a default. */
function setting<T>(help: string, argument: string, parse: (text: string) => T, fallback = '') {
  return { help, argument, fallback, parse };
}

function rateLimit(help: string, fallback: string) {
  return setting(`${help}; 0 = off`, 'number', wholeNumber(0, 1e9), fallback);
}

function onUnlessOff(help: string) {
  return setting(`${help}: on or off`, 'switch', oneOf(['on', 'off']), 'on');
}

/** Puts the name of the option before the message of an error. */
export function forOption<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new BadInput(`${option} ${(error as Error).message}`, { cause: error });
  }
}

export function wholeNumber(min: number, max: number) {
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

/** The error message must not repeat the URL, which may contain a password. */
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Error('must be a URL such as postgres://user@host/name');
  return text;
}

function currencyCode(text: string): string {
  if (!/^[A-Z]{3}$/.test(text))
    throw new Error(`must be a three-letter currency code, such as EUR, not "${text}"`);
  return text;
}

/** Pages and links use absolute paths, so the URL must not have a path. */
function webOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new Error(`must be a URL without a path, such as https://api.example, not "${text}"`);
  }
  return url.origin;
}

/** `check` throws if an entry is invalid. */
function list(check: (entries: readonly string[]) => unknown) {
  return (text: string): readonly string[] => {
    const entries = parseList(text);
    check(entries);
    return entries;
  };
}

function requireLogoSources(sources: readonly string[]): void {
  const bad = sources.find(
    (source) =>
      source !== 'https:' &&
      !(/^https?:/.test(source) && URL.canParse(source) && new URL(source).origin === source),
  );
  if (bad !== undefined) {
    throw new Error(
      `must be a list of origins such as https://cdn.example, or "https:" for every HTTPS origin; got "${bad}"`,
    );
  }
}

/** Parses a comma-separated list. */
export function parseList(text: string): string[] {
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

/** Returns the terminal's width if the user has set one; undefined otherwise. */
export function readColumns(): number | undefined {
  const columns = Number(process.env.COLUMNS);
  return Number.isInteger(columns) && columns > 0 ? columns : undefined;
}
