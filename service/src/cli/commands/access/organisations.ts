// offerbook orgs: creates, lists and deletes organisations, which own tokens and transactions.

import { printCountsOf } from '@offerbook/wire/count.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { UUID_PATTERN } from '@offerbook/wire/uuid.ts';
import type { Command } from 'commander';
import type { DeletedCounts, Organisation } from '../../../domain/organisation.ts';
import { isStorageError } from '../../../domain/storage-error.ts';
import type { Stores } from '../../../domain/stores.ts';
import { CREATE_OPTIONS } from '../../../storage/open-stores.ts';
import { group, jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
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
  return group('orgs', 'create, list and delete organisations', [create, list, remove]);
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
  await using stores = await openForWriting(options, CREATE_OPTIONS);
  const created = await stores.organisations.create(name);
  if (created === undefined) throw await nameTaken(stores, name);
  const text = `Created organisation "${name}". Its id in activation links is orgId=${created.publicId}`;
  await printResult(options, toJson(created), text);
}

async function listOrganisations(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const all = (await stores.organisations.list()).map(toJson);
  const rows = all.map(({ name, publicId, createdAt }) => ({
    ...{ NAME: name, ORGID: publicId, CREATED: createdAt },
  }));
  await printResult(options, all, table(rows, 'No organisations.'));
}

async function nameTaken(stores: Stores, name: string): Promise<BadInput> {
  const isThere = (await stores.organisations.find(name)) !== undefined;
  if (isThere) return new BadInput(`the organisation "${name}" already exists`);
  const retry = `offerbook orgs delete ${JSON.stringify(name)}`;
  return new BadInput(
    `the organisation "${name}" is being deleted; if the command was interrupted, run it again: ${retry}`,
  );
}

async function deleteOrganisation(
  name: string,
  options: StoreOptions & { revokeTokens?: boolean; dryRun?: boolean },
): Promise<void> {
  const isDryRun = options.dryRun === true;
  await using stores = await (isDryRun ? openForReading : openForWriting)(options);
  const counts = isDryRun
    ? await stores.organisations.contents(name)
    : await withProgressBar((show) =>
        stores.organisations
          .delete(name, { revokesTokens: options.revokeTokens === true, onBatch: show })
          .catch((error: unknown) => {
            if (!isStorageError(error, 'conflict')) throw error;
            const advice = 'revoke its tokens first, or add --revoke-tokens';
            throw new Refused(`${error.message}; ${advice}`, { cause: error });
          }),
      );
  if (counts === undefined) throw noOrganisation(name, 'to read');
  const deleted = printDeleted(counts);
  const text = isDryRun
    ? `Would delete "${name}" with ${deleted}; nothing was changed.`
    : `Deleted "${name}" with ${deleted}.`;
  await printResult(options, counts, text);
}

function printDeleted({ tokens, transactions, versions, clicks, imports }: DeletedCounts): string {
  const counts = { tokens, transactions, 'earlier versions': versions, clicks, imports };
  return `${printCountsOf(counts)} in the import log`;
}

function toJson(org: Organisation) {
  return { name: org.name, publicId: org.publicId, createdAt: printTimestamp(org.createdAtMs) };
}

/** Throws BadInput if there is no such organisation. */
export async function getOrganisation(stores: Stores, name: string, purpose: Purpose): Promise<Organisation> {
  const org = await stores.organisations.find(name);
  if (org === undefined) throw noOrganisation(name, purpose);
  return org;
}

/** Returns the id of the organisation in --org; undefined without this option. */
export async function findOrgId(stores: Stores, name: string | undefined): Promise<number | undefined> {
  return name === undefined ? undefined : (await getOrganisation(stores, name, 'to read')).id;
}

type Purpose = 'to read' | 'to write';

/** On a read, the name is probably misspelt; on a write, the organisation may be new. */
function noOrganisation(name: string, purpose: Purpose): BadInput {
  const advice =
    purpose === 'to read'
      ? 'list them with: offerbook orgs list'
      : `create it with: offerbook orgs create ${JSON.stringify(name)}`;
  return new BadInput(`there is no organisation "${name}"; ${advice}`);
}
