// One of something for all who ask: opened when it is first needed, and again by the next who asks when that has failed.

export interface OpenOnce<Resource> {
  open(): Promise<Resource>;
  close(): Promise<void>;
}

interface Closable {
  close(): void | Promise<void>;
}

/** For `await using`: it is closed at the end of the block, whichever way that ends. */
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
