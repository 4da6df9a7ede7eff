import { testShortForm } from '../short-form.ts';
import { failover } from './failover.ts';

testShortForm(failover);
