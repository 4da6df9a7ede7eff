// Opens a shared resource on first use. If opening fails, the next caller tries again.

export interface OpenOnce<Resource> {
  open(): Promise<Resource>;
  close(): Promise<void>;
}

interface Closable {
  close(): void | Promise<void>;
}

/** Adapts a resource for `await using`, which closes it at the end of the block. */
export function closing<Resource extends Closable>(resource: Resource): Resource & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: async () => resource.close() });
}

export function openOnce<Resource extends Closable>(connect: () => Promise<Resource>): OpenOnce<Resource> {
  let opened: Promise<Resource> | undefined;
  return {
    async open() {
      opened ??= connect();
      try {
        return await opened;
      } catch (error) {
        opened = undefined;
        throw error;
      }
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
