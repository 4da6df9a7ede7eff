// The start of the executable: does from inside what the script beside it does before Bun starts. The other option of the
// script, the header limit, is given by the build.

/** A small machine, to the collector of garbage. */
const FORCED = 'BUN_JSC_forceRAMSize';

// The process starts anew under the same id, because the runtime reads this when it starts.
if (process.argv[2] === 'import' && process.env[FORCED] === undefined) {
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], {
    ...process.env,
    [FORCED]: '200000000',
  });
}

await import('../src/main.ts');
