import { testShortForm } from '../short-form.ts';
import { pull } from './pull.ts';

testShortForm(pull);
