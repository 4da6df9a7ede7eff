// Links: where clicks on retailers and deals lead. Servers keep all of them in memory.

import type { Clock } from '../../domain/clock.ts';
import type { Link, LinkStore } from '../../domain/stores.ts';
import { type Connection, type Database, LINKS } from '../database.ts';
import { takeTurn } from './import-book.ts';
import { lockRevision, raiseRevision } from './revision.ts';

export function linkStore(database: Database, clock: Clock): LinkStore {
  return {
    list: () => listLinks(database),
    write: (work, importId) =>
      database.write(async (connection) => {
        await lockRevision(database, connection, 'activation');
        const finishImport = await takeTurn(connection, clock, importId);
        const before = await listLinks(connection);
        return work({
          finishImport,
          list: async () => before,
          async put(links) {
            await connection.putMany(LINKS, links);
          },
          remove: (ids) => connection.deleteMany(LINKS, ids),
          markChanged: () => raiseRevision(connection, 'activation'),
        });
      }),
  };
}

export function listLinks(connection: Pick<Connection, 'all'>): Promise<Link[]> {
  return connection.all<Link>('SELECT id, kind, template FROM links ORDER BY id');
}
