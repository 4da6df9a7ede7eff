// Entry point of the executable. Prepares the environment as the script bin/offerbook does; the build sets Bun's options.

/**
 * Variables that can make Bun run foreign code, accept any TLS certificate, or print requests with their tokens. Bun has already
 * applied them by now, so the restart drops them.
 */
const DROPPED = [
  ...['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD', 'BUN_BE_BUN'],
  ...['NODE_TLS_REJECT_UNAUTHORIZED', 'BUN_CONFIG_VERBOSE_FETCH'],
];
/** Makes Bun collect garbage as if the machine had this much memory. */
const FORCED = 'BUN_JSC_forceRAMSize';

const isMissingForced =
  ['import', 'pull'].includes(process.argv[2] ?? '') && process.env[FORCED] === undefined;

// Bun reads these variables only at startup, so replace the process; its id stays the same.
if (isMissingForced || DROPPED.some((name) => process.env[name] !== undefined)) {
  const kept = Object.entries(process.env).filter(([name]) => !DROPPED.includes(name));
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], {
    ...Object.fromEntries(kept),
    ...(isMissingForced && { [FORCED]: '200000000' }),
  });
}

await import('../src/main.ts');
