// Entry point @offerbook/client/node: the exports that need a file system.

export { fileCheckpoint } from './file-checkpoint.ts';
