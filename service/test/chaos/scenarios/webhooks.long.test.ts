import { testShortForm } from '../short-form.ts';
import { webhooks } from './webhooks.ts';

testShortForm(webhooks, 'webhooks lose no change and never overwrite a newer version');
