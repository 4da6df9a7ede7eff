import { testShortForm } from '../short-form.ts';
import { durability } from './durability.ts';

testShortForm(durability);
