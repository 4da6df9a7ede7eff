// What the package offers beside, to runtimes that have files: @offerbook/client/node.

export { fileCheckpoint } from './file-checkpoint.ts';
