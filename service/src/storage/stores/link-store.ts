// Links: the targets of clicks on retailers and deals, and further domains of retailers' sites. Servers keep all links in memory.

import type { Link, LinkStore } from '../../domain/catalogue.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Database, Queries } from '../database.ts';
import { LINKS } from '../schema/tables.ts';
import { takeOverLog } from './import-log.ts';
import { lockRevision, raiseRevision } from './revision.ts';

export function linkStore(database: Database, clock: Clock): LinkStore {
  return {
    list: () => listLinks(database),
    write: (work, importId) =>
      database.write(async (connection) => {
        await lockRevision(connection, 'activation');
        const finishImport = await takeOverLog(connection, clock, importId);
        const before = await listLinks(connection);
        const domainsBefore = new Map(before.map(({ id, domains }) => [id, domains?.join()]));
        let changesDomains = false;
        return work({
          finishImport,
          list: async () => before,
          async put(links) {
            changesDomains ||= links.some(
              ({ id, domains = [] }) => domains.join() !== (domainsBefore.get(id) ?? ''),
            );
            await connection.putMany(LINKS, links.map(toLinkRow));
          },
          async remove(ids) {
            changesDomains ||= ids.some((id) => (domainsBefore.get(id) ?? '') !== '');
            await connection.deleteMany(LINKS, ids);
          },
          async markChanged() {
            await raiseRevision(connection, 'activation');
            // The catalogue's snapshot contains the domains.
            if (changesDomains) await raiseRevision(connection, 'catalogue');
          },
        });
      }),
  };
}

interface LinkRow extends Omit<Link, 'domains'> {
  readonly domains: string;
}

async function listLinks(connection: Queries): Promise<Link[]> {
  const rows = await connection.all<LinkRow>('SELECT id, kind, template, domains FROM links ORDER BY id');
  return rows.map((row) => ({ ...row, domains: parseDomains(row.domains) }));
}

function toLinkRow({ domains = [], ...link }: Link): LinkRow {
  return { ...link, domains: JSON.stringify(domains) };
}

/** Null if the retailer has no link. */
export function parseDomains(text: string | null): readonly string[] {
  return text === null ? [] : (JSON.parse(text) as string[]);
}
