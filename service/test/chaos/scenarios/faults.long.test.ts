import { testShortForm } from '../short-form.ts';
import { faults } from './faults.ts';

testShortForm(faults);
