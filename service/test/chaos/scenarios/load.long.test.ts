import { testShortForm } from '../short-form.ts';
import { load } from './load.ts';

testShortForm(load);
