import { testShortForm } from '../short-form.ts';
import { workers } from './workers.ts';

testShortForm(workers);
