import { testShortForm } from '../short-form.ts';
import { clicks } from './clicks.ts';

testShortForm(clicks);
