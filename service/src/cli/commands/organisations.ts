// offerbook orgs: the organisations that tokens and transactions belong to.

import { Command } from 'commander';
import { BadInput } from '../../domain/failures.ts';
import type { Organisation, PublicOrganisation, Stores } from '../../domain/stores.ts';
import { printTimestamp } from '../../domain/timestamp.ts';
import { CREATE_OPTIONS } from '../../storage/open-stores.ts';
import { jsonCommand, type StoreOptions, withStores } from '../command.ts';
import { printResult, table } from '../output.ts';

const NAME_LENGTH_MAX = 200;

export function organisationsCommand(): Command {
  const create = jsonCommand('create', 'create an organisation', 'offerbook orgs create acme')
    .argument('<name>')
    .action(createOrganisation);
  const list = jsonCommand('list', 'list all organisations', 'offerbook orgs list').action(listOrganisations);
  return new Command('orgs').description('organisations').addCommand(create).addCommand(list);
}

async function createOrganisation(name: string, options: StoreOptions): Promise<void> {
  if (name.trim() !== name || name === '' || name.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(name)) {
    throw new BadInput(
      `an organisation's name has 1 to ${NAME_LENGTH_MAX} characters, no control characters and no space at its ends`,
    );
  }
  await withStores(
    options,
    async (stores) => {
      const created = await stores.organisations.create(name);
      if (created === undefined) throw new BadInput(`there is an organisation "${name}" already`);
      await printResult(options, toJson(created), `Created organisation "${name}".`);
    },
    CREATE_OPTIONS,
  );
}

async function listOrganisations(options: StoreOptions): Promise<void> {
  await withStores(options, async (stores) => {
    const all = await stores.organisations.list();
    const rows = all.map((org) => [org.name, org.publicId, printTimestamp(org.createdAtMs)]);
    await printResult(
      options,
      all.map(toJson),
      rows.length === 0 ? 'No organisations.' : table(['NAME', 'PUBLIC ID', 'CREATED'], rows),
    );
  });
}

function toJson(org: PublicOrganisation) {
  return { name: org.name, publicId: org.publicId, createdAt: printTimestamp(org.createdAtMs) };
}

/** Whoever wants to read from one that is not there has mistaken the name; whoever wants to write may want it. */
export async function getOrganisation(
  stores: Stores,
  name: string,
  purpose: 'to read' | 'to write',
): Promise<Organisation> {
  const org = await stores.organisations.find(name);
  if (org !== undefined) return org;
  const advice =
    purpose === 'to read'
      ? 'offerbook orgs list shows those that there are'
      : `create it with: offerbook orgs create ${JSON.stringify(name)}`;
  throw new BadInput(`there is no organisation "${name}"; ${advice}`);
}
