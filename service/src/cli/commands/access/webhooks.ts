// offerbook webhooks: registers the endpoints to which servers post changed transactions. A secret is printed only when it is
// created. Secrets are never passed as arguments.

import { BadInput, ServiceFailure } from '@offerbook/wire/failures.ts';
import { parseInstant, printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Command } from 'commander';
import { forOption, parseList } from '../../../config.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Stores } from '../../../domain/stores.ts';
import {
  completeThrough,
  NO_WATERMARK_MS,
  type Webhook,
  type WebhookStatus,
  type WebhookStore,
  webhookState,
} from '../../../domain/webhook.ts';
import { addressRules, parseEndpointUrl } from '../../../webhooks/address-rules.ts';
import { testMessage } from '../../../webhooks/message.ts';
import { post } from '../../../webhooks/post.ts';
import { signatureHeaders, webhookSecret } from '../../../webhooks/signature.ts';
import {
  environmentOption,
  group,
  jsonCommand,
  openForReading,
  openForWriting,
  type StoreOptions,
} from '../../command.ts';
import { notFound, parseDurationMs, parseId } from '../../option-values.ts';
import { printNote, printResult, printTime, table } from '../../output.ts';
import { getOrganisation } from './organisations.ts';

const EXAMPLE_ID = '0192d1a0-0000-7000-8000-000000000001';

export function webhooksCommand(): Command {
  const create = jsonCommand(
    'create',
    'register an endpoint and print its secret once',
    'offerbook webhooks create --org acme --url https://partner.example/offerbook',
  )
    .requiredOption('--org <name>', 'organisation whose transactions are sent')
    .requiredOption('--url <url>', 'HTTPS URL of the endpoint')
    .option(
      '--since <time>',
      'send only changes after this time, such as 2026-11-01 (default: all transactions)',
    )
    .action(createWebhook);
  const list = jsonCommand('list', 'list all webhooks and their state', 'offerbook webhooks list').action(
    listWebhooks,
  );
  const pause = withId('pause', 'stop sending; nothing is lost').action(
    changing('Paused', (webhooks, id) => webhooks.pause(id)),
  );
  const resume = withId('resume', 'continue where the webhook was paused, or retry now').action(
    changing('Resumed', (webhooks, id) => webhooks.resume(id)),
  );
  const rotate = withId('rotate', 'replace the secret; both secrets sign during the overlap', '--overlap 7d')
    .option('--overlap <duration>', 'time until the old secret stops signing', '7d')
    .action(rotateSecret);
  const replay = withId('replay', 'send all changes since a time again', '--since 2026-11-01')
    .requiredOption('--since <time>', 'time such as 2026-11-01, or "start" for all transactions')
    .action((id: string, options: StoreOptions & { since: string }) => {
      const sinceMs = options.since === 'start' ? NO_WATERMARK_MS : parseSince(options.since);
      return changing('Replaying', (webhooks, known) => webhooks.replay(known, sinceMs))(id, options);
    });
  const networks = environmentOption(
    '--webhook-networks <list>',
    "the servers' --webhook-networks, if set",
    'OFFERBOOK_WEBHOOK_NETWORKS',
  );
  const test = withId('test', 'send a signed request without transactions')
    .addOption(networks.default(''))
    .action(testWebhook);
  const remove = withId('delete', 'stop sending and delete the webhook').action(
    changing('Deleted', (webhooks, id) => webhooks.delete(id)),
  );
  const commands = [create, list, pause, resume, rotate, replay, test, remove];
  return group('webhooks', "send changed transactions to partners' endpoints", commands);
}

function withId(name: string, description: string, exampleOption = ''): Command {
  const example = `offerbook webhooks ${name} ${EXAMPLE_ID} ${exampleOption}`.trimEnd();
  return jsonCommand(name, description, example).argument('<id>', 'id from offerbook webhooks list');
}

async function createWebhook(
  options: StoreOptions & { org: string; url: string; since?: string },
): Promise<void> {
  const url = parseEndpointUrl(options.url);
  const sinceMs = options.since === undefined ? NO_WATERMARK_MS : parseSince(options.since);
  await using stores = await openForWriting(options);
  const org = await getOrganisation(stores, options.org, 'to write');
  const created = await stores.webhooks.create(org.id, url, sinceMs);
  if (options.json !== true) {
    printNote(
      `Created the webhook ${created.id} of "${created.orgName}". Give the partner this secret; it is printed only once.`,
    );
    if (url.startsWith('http:'))
      printNote(
        "The URL does not use TLS: requests are sent only to addresses in the servers' --webhook-networks.",
      );
  }
  await printSecret(options, stores, created);
}

async function listWebhooks(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const all = await stores.webhooks.list();
  const rows = all.map((webhook) => ({
    ID: webhook.id,
    ORG: webhook.orgName,
    STATE: webhookState(webhook),
    'FAILING SINCE': printTime(webhook.failingSinceMs) ?? '',
    'BEHIND SINCE': printTime(webhook.behindSinceMs) ?? '',
    'LAST RESULT': webhook.lastResult ?? '',
    'LAST DELIVERY': printTime(webhook.deliveredAtMs) ?? 'never',
    URL: webhook.url,
  }));
  await printResult(options, all.map(statusJson), table(rows, 'No webhooks.'));
}

/** Returns the action of a command that changes one webhook. */
function changing(
  done: string,
  change: (webhooks: WebhookStore, id: Uuid) => ReturnType<WebhookStore['find']>,
) {
  return async (idText: string, options: StoreOptions): Promise<void> => {
    const id = parseId(idText, 'webhook');
    await using stores = await openForWriting(options);
    const changed = await change(stores.webhooks, id);
    if (changed === undefined) throw notFound(id, 'webhook');
    await printResult(options, toJson(changed), `${done} the webhook ${id} of "${changed.orgName}".`);
  };
}

async function rotateSecret(idText: string, options: StoreOptions & { overlap: string }): Promise<void> {
  const id = parseId(idText, 'webhook');
  const endsAtMs = systemClock() + parseDurationMs('--overlap', options.overlap);
  await using stores = await openForWriting(options);
  const rotated = await stores.webhooks.rotate(id, endsAtMs);
  if (rotated === undefined) throw notFound(id, 'webhook');
  if (options.json !== true)
    printNote(
      `Give the partner this new secret; it is printed only once. The old secret signs until ${printTimestamp(rotated.overlapEndsAtMs)}.`,
    );
  await printSecret(options, stores, rotated);
}

async function testWebhook(
  idText: string,
  options: StoreOptions & { webhookNetworks: string },
): Promise<void> {
  const id = parseId(idText, 'webhook');
  const rules = forOption('--webhook-networks', () => addressRules(parseList(options.webhookNetworks)));
  await using stores = await openForReading(options);
  const webhook = await stores.webhooks.find(id);
  if (webhook === undefined) throw notFound(id, 'webhook');
  const nowMs = systemClock();
  const { id: messageId, body } = testMessage(webhook, nowMs);
  const headers = signatureHeaders(await stores.clickKey(), webhook, { messageId, atMs: nowMs, body });
  const { isDelivered, result } = await post(
    { url: webhook.url, headers, body, failures: 0, nowMs },
    { rules },
  );
  if (!isDelivered) throw new ServiceFailure(`the endpoint did not accept the request: ${result}`);
  await printResult(options, { id, result }, `The endpoint accepted the request: ${result}.`);
}

async function printSecret(options: StoreOptions, stores: Stores, webhook: Webhook): Promise<void> {
  const { id, url, generation } = webhook;
  const secret = webhookSecret(await stores.clickKey(), id, generation);
  await printResult(options, { id, url, secret }, secret);
}

function parseSince(text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined)
    throw new BadInput(`--since must be a time such as 2026-11-01 or 2026-11-01T12:00:00, not "${text}"`);
  return instant.ms;
}

function toJson(webhook: Webhook) {
  const { id, orgName, url, pausedAtMs, pausedBy } = webhook;
  return {
    id,
    org: orgName,
    url,
    after: printTime(completeThrough(webhook)),
    pausedAt: printTime(pausedAtMs),
    pausedBy,
  };
}

function statusJson(webhook: WebhookStatus) {
  return {
    ...toJson(webhook),
    state: webhookState(webhook),
    createdAt: printTimestamp(webhook.createdAtMs),
    behindSince: printTime(webhook.behindSinceMs),
    failingSince: printTime(webhook.failingSinceMs),
    failures: webhook.failures,
    retryAt: printTime(webhook.retryAtMs),
    lastResult: webhook.lastResult,
    lastDeliveryAt: printTime(webhook.deliveredAtMs),
  };
}
