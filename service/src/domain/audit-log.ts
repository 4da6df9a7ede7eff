// The audit log: who changed what, except imports. Each entry is written in the same database transaction as its change. The
// log never contains tokens.

export type AuditAction =
  | 'organisation created'
  | 'token issued'
  | 'token rotated'
  | 'token revoked'
  | 'webhook created'
  | 'webhook paused'
  | 'webhook resumed'
  | 'webhook secret rotated'
  | 'webhook replayed'
  | 'webhook deleted'
  | 'history purged'
  | 'clicks purged'
  | 'user erasure begun'
  | 'user erased'
  | 'organisation deleted'
  | 'database copied'
  | 'database restore begun'
  | 'database restored'
  | 'failover recorded'
  | 'lost changes repaired'
  | 'schema migrated';

export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly by: string;
  readonly action: AuditAction;
  readonly org: string | null;
  /** Parameters of the action, such as a token's id, kind and label. */
  readonly details: Readonly<Record<string, string | number | null>>;
}

export interface AuditLog {
  /** Newest first. */
  list(query: { readonly org?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
}
