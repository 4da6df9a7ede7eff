// offerbook orgs: creates, lists and deletes organisations, which own tokens and transactions.

import { printCountsOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { UUID_PATTERN } from '@offerbook/wire/uuid.ts';
import { Command } from 'commander';
import type { DeletedCounts, Organisation, PublicOrganisation } from '../../../domain/organisation.ts';
import { isStorageError } from '../../../domain/storage-error.ts';
import type { Stores } from '../../../domain/stores.ts';
import { CREATE_OPTIONS } from '../../../storage/open-stores.ts';
import { jsonCommand, readStores, type StoreOptions, withStores } from '../../command.ts';
import { printable, printResult, table } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';

const NAME_LENGTH_MAX = 200;

export function organisationsCommand(): Command {
  const create = jsonCommand('create', 'create an organisation', 'offerbook orgs create acme')
    .argument('<name>', 'name of the organisation')
    .action(createOrganisation);
  const list = jsonCommand('list', 'list all organisations', 'offerbook orgs list').action(listOrganisations);
  const remove = jsonCommand(
    'delete',
    'delete an organisation with its tokens, webhooks, transactions, history and clicks',
    'offerbook orgs delete acme --dry-run',
  )
    .argument('<name>', 'name of the organisation')
    .option('--revoke-tokens', 'delete it even if it has valid tokens')
    .option('--dry-run', 'print what would be deleted; change nothing')
    .action(deleteOrganisation);
  const orgs = new Command('orgs').description('create, list and delete organisations');
  for (const sub of [create, list, remove]) orgs.addCommand(sub);
  return orgs;
}

async function createOrganisation(name: string, options: StoreOptions): Promise<void> {
  // A name with invisible characters cannot be typed, and can look like another name.
  if (name.trim() !== name || name === '' || name.length > NAME_LENGTH_MAX || printable(name) !== name) {
    throw new BadInput(
      `an organisation name must be 1–${NAME_LENGTH_MAX} characters, without control, line-break or bidirectional characters and without leading or trailing spaces`,
    );
  }
  if (UUID_PATTERN.test(name))
    throw new BadInput(
      'an organisation name must not look like an id, because the console finds organisations by name and by id',
    );
  await withStores(
    options,
    async (stores) => {
      const created = await stores.organisations.create(name);
      if (created === undefined) throw await nameTaken(stores, name);
      await printResult(
        options,
        toJson(created),
        `Created organisation "${name}". Its id in activation links is orgId=${created.publicId}`,
      );
    },
    CREATE_OPTIONS,
  );
}

async function listOrganisations(options: StoreOptions): Promise<void> {
  await readStores(options, async (stores) => {
    const all = await stores.organisations.list();
    const rows = all.map((org) => [org.name, org.publicId, printTimestamp(org.createdAtMs)]);
    await printResult(
      options,
      all.map(toJson),
      table(['NAME', 'ORGID', 'CREATED'], rows, 'No organisations.'),
    );
  });
}

async function nameTaken(stores: Stores, name: string): Promise<BadInput> {
  const isThere = (await stores.organisations.find(name)) !== undefined;
  return new BadInput(
    isThere
      ? `the organisation "${name}" already exists`
      : `the organisation "${name}" is being deleted; if the command was interrupted, run it again: offerbook orgs delete ${JSON.stringify(name)}`,
  );
}

interface DeleteOptions extends StoreOptions {
  readonly revokeTokens?: boolean;
  readonly dryRun?: boolean;
}

async function deleteOrganisation(name: string, options: DeleteOptions): Promise<void> {
  if (options.dryRun === true) return countContents(name, options);
  await withStores(options, async ({ organisations }) => {
    const revokesTokens = options.revokeTokens === true;
    const deleted = await withProgressBar((show) =>
      organisations.delete(name, { revokesTokens, onBatch: show }).catch((error: unknown) => {
        if (!isStorageError(error, 'conflict')) throw error;
        throw new Refused(`${error.message}; revoke its tokens first, or add --revoke-tokens`, {
          cause: error,
        });
      }),
    );
    if (deleted === undefined) throw noOrganisation(name, 'to read');
    await printResult(options, deleted, `Deleted "${name}" with ${printDeleted(deleted)}.`);
  });
}

function countContents(name: string, options: DeleteOptions): Promise<void> {
  return readStores(options, async ({ organisations }) => {
    const contents = await organisations.contents(name);
    if (contents === undefined) throw noOrganisation(name, 'to read');
    const text = `Would delete "${name}" with ${printDeleted(contents)}; nothing was changed.`;
    await printResult(options, contents, text);
  });
}

function printDeleted({ tokens, transactions, versions, clicks, imports }: DeletedCounts): string {
  const counts = { tokens, transactions, 'earlier versions': versions, clicks, imports };
  return `${printCountsOf(counts)} in the import log`;
}

function toJson(org: PublicOrganisation) {
  return { name: org.name, publicId: org.publicId, createdAt: printTimestamp(org.createdAtMs) };
}

/**
 * Throws BadInput if there is no such organisation. On a read, suggests `orgs list` (probably a typo); on a write, `orgs
 * create`.
 */
export async function getOrganisation(
  stores: Stores,
  name: string,
  purpose: 'to read' | 'to write',
): Promise<Organisation> {
  const org = await stores.organisations.find(name);
  if (org !== undefined) return org;
  throw noOrganisation(name, purpose);
}

function noOrganisation(name: string, purpose: 'to read' | 'to write'): BadInput {
  const advice =
    purpose === 'to read'
      ? 'list them with: offerbook orgs list'
      : `create it with: offerbook orgs create ${JSON.stringify(name)}`;
  return new BadInput(`there is no organisation "${name}"; ${advice}`);
}
