import { testShortForm } from '../short-form.ts';
import { faults } from './faults.ts';

testShortForm(
  faults,
  'during faults of PostgreSQL, the catalogue is served, and the node recovers without a restart',
);
