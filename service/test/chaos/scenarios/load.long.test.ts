import { testShortForm } from '../short-form.ts';
import { load } from './load.ts';

testShortForm(load, 'an overloaded or attacked server serves all other clients');
