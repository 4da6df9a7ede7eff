// The parts of Chrome's extension API that the example uses. Your own extension can use @types/chrome instead.

declare namespace chrome {
  interface Navigation {
    readonly tabId: number;
    /** 0 for the page itself, other numbers for frames in it. */
    readonly frameId: number;
    readonly url: string;
  }

  interface Event<Value> {
    addListener(listener: (value: Value) => unknown): void;
  }

  interface StorageArea {
    // biome-ignore lint/suspicious/noExplicitAny: the type depends on the key
    get(key: string): Promise<Record<string, any>>;
    set(items: Record<string, unknown>): Promise<void>;
  }

  const action: {
    setBadgeBackgroundColor(details: { tabId: number; color: string }): Promise<void>;
    setBadgeText(details: { tabId: number; text: string }): Promise<void>;
    setPopup(details: { tabId: number; popup: string }): Promise<void>;
    setTitle(details: { tabId: number; title: string }): Promise<void>;
  };
  const alarms: {
    create(name: string, info: { periodInMinutes: number }): Promise<void>;
    readonly onAlarm: Event<object>;
  };
  const runtime: { readonly onInstalled: Event<object>; readonly onStartup: Event<void> };
  const storage: { readonly local: StorageArea; readonly session: StorageArea };
  const tabs: { update(tabId: number, properties: { url: string }): Promise<unknown> };
  const webNavigation: Record<
    'onBeforeNavigate' | 'onCommitted' | 'onHistoryStateUpdated',
    Event<Navigation>
  >;
}
