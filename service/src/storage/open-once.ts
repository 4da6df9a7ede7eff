// Opens a shared resource on first use. If opening fails, the next caller tries again.

interface Closable {
  close(): void | Promise<void>;
}

export type OpenOnce<Resource extends Closable> = ReturnType<typeof openOnce<Resource>>;

/** Adapts a resource for `await using`, which closes it at the end of the block. */
export function closing<Resource extends Closable>(resource: Resource): Resource & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: async () => resource.close() });
}

/** Runs `work`, and closes the resource if it fails. */
export async function closingOnError<T>(resource: Closable, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await resource.close();
    throw error;
  }
}

export function openOnce<Resource extends Closable>(connect: () => Promise<Resource>) {
  let opened: Promise<Resource> | undefined;
  return {
    async open(): Promise<Resource> {
      opened ??= connect();
      try {
        return await opened;
      } catch (error) {
        opened = undefined;
        throw error;
      }
    },
    async close(): Promise<void> {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
