// Entry point of the executable. Prepares the environment as the script bin/offerbook does; the build sets Bun's options.

/** Variables with which Bun runs other code than Offerbook's. Bun has obeyed them by now; the restart drops them. */
const DROPPED = ['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD', 'BUN_BE_BUN'];
/** Makes Bun collect garbage as on a machine with this much memory. */
const FORCED = 'BUN_JSC_forceRAMSize';

const isMissingForced = process.argv[2] === 'import' && process.env[FORCED] === undefined;

// Bun reads these variables when it starts, so the process starts anew under the same id.
if (isMissingForced || DROPPED.some((name) => process.env[name] !== undefined)) {
  const kept = Object.entries(process.env).filter(([name]) => !DROPPED.includes(name));
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], {
    ...Object.fromEntries(kept),
    ...(isMissingForced && { [FORCED]: '200000000' }),
  });
}

await import('../src/main.ts');
