// Links: the targets of clicks on retailers and deals. Servers keep all links in memory.

import type { Clock } from '../../domain/clock.ts';
import type { Link, LinkStore } from '../../domain/link.ts';
import { type Database, LINKS, type Queries } from '../database.ts';
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

export function listLinks(connection: Queries): Promise<Link[]> {
  return connection.all<Link>('SELECT id, kind, template FROM links ORDER BY id');
}
