import { testShortForm } from '../short-form.ts';
import { failover } from './failover.ts';

testShortForm(failover, 'no acknowledged change is lost unnoticed when a standby replaces the primary');
