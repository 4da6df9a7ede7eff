// A backup's manifest lists its files with checksums and row counts. The manifest is written last, so a folder without one is
// not a complete backup.

import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTimestamp } from '@offerbook/wire/timestamp.ts';
import { z } from 'zod';
import { StorageError } from '../../domain/storage-error.ts';

export const MANIFEST_NAME = 'manifest.json';
/** Fixed names, independent of the database's name. */
const BACKUP_FILES = ['offerbook.db', 'offerbook.db-activations'] as const;
export const [MAIN_FILE, CLICK_FILE] = BACKUP_FILES;

const FileSchema = z.object({
  name: z.enum(BACKUP_FILES),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Row counts by table name. */
  rows: z.record(z.string(), z.int().nonnegative()),
});

const ManifestSchema = z.object({
  kind: z.literal('offerbook backup'),
  format: z.literal(1),
  madeAt: z.string().refine((text) => parseTimestamp(text) === text),
  /** Offerbook version that made the backup. */
  version: z.string().regex(/^[\w.+-]{1,100}$/),
  files: z
    .array(FileSchema)
    .refine((files) => files.some(({ name }) => name === MAIN_FILE))
    .refine((files) => new Set(files.map(({ name }) => name)).size === files.length),
});

export type BackupFile = z.output<typeof FileSchema>;
export type BackupManifest = z.output<typeof ManifestSchema>;

/** Throws a StorageError for a symbolic link, which could make a restore copy any file that this user can read. */
export function requireNoLink(folder: string, name: string): void {
  if (lstatSync(join(folder, name), { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StorageError(
      'invalid',
      `${join(folder, name)} is a symbolic link, which a backup never contains; nothing was changed`,
    );
}

export function readManifest(folder: string): BackupManifest {
  requireNoLink(folder, MANIFEST_NAME);
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST_NAME), 'utf8');
  } catch (cause) {
    throw new StorageError('invalid', `${folder} is not a backup: its ${MANIFEST_NAME} cannot be read`, {
      cause,
    });
  }
  try {
    return ManifestSchema.parse(JSON.parse(text));
  } catch {
    // Omits the parser's error, which quotes the manifest.
    throw new StorageError(
      'invalid',
      `${folder} is not a backup that this version of Offerbook can read: its ${MANIFEST_NAME} is invalid`,
    );
  }
}
