import { testShortForm } from '../short-form.ts';
import { webhooks } from './webhooks.ts';

testShortForm(webhooks);
