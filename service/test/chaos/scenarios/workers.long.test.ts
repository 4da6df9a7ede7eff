import { testShortForm } from '../short-form.ts';
import { workers } from './workers.ts';

testShortForm(
  workers,
  'requests succeed while other workers are killed and frozen, and every worker notices changes',
);
