import { testShortForm } from '../short-form.ts';
import { polling } from './polling.ts';

testShortForm(polling);
