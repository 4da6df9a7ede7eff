import { testShortForm } from '../short-form.ts';
import { replica } from './replica.ts';

testShortForm(replica);
