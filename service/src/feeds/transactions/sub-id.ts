// Whose sale it is. A network hands back the one text that was put into the link; the source file says what it is.

import type { FieldProblem } from '../../importer/formats/raw-row.ts';
import type { Sale } from '../network.ts';
import type { Source } from '../source/source-file.ts';

/** What a row says of its owner, that it belongs to another organisation, or what is wrong. */
export type Owner =
  | { readonly kind: 'user'; readonly passbackUid: string | null; readonly passbackData: string | null }
  | { readonly kind: 'click'; readonly clickId: string }
  | { readonly kind: 'other organisation' }
  | { readonly kind: 'unknown'; readonly problem: FieldProblem };

/** The sub-id never becomes part of a message: it may be personal. */
export function findOwner(sale: Sale, source: Source, organisation: string | undefined): Owner {
  const { subId, subData } = sale;
  const user = (passbackUid: string | null) =>
    ({ kind: 'user', passbackUid, passbackData: subData ?? null }) as const;
  if (source.subId === 'uid') return user(subId ?? null);
  // A sale without a click is printed all the same: the import decides what to do with sales that nobody owns.
  if (source.subId === 'click') return subId === undefined ? user(null) : { kind: 'click', clickId: subId };
  const { separator = '' } = source;
  const [owner, ...rest] = subId?.split(separator) ?? [];
  const passbackUid = rest.join(separator);
  if (owner === undefined || owner === '' || passbackUid === '') {
    const reason = `must be an organisation, ${JSON.stringify(separator)} and a passbackUid`;
    return { kind: 'unknown', problem: { field: 'the sub-id', reason } };
  }
  return owner === organisation ? user(passbackUid) : { kind: 'other organisation' };
}
