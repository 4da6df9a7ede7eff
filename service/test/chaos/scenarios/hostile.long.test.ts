import { testShortForm } from '../short-form.ts';
import { hostile } from './hostile.ts';

testShortForm(hostile);
