import { testShortForm } from '../short-form.ts';
import { replica } from './replica.ts';

testShortForm(
  replica,
  'no poller misses a change while pages alternate between the primary and a delayed replica',
);
