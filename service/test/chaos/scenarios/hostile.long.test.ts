// Ten times the inputs of hostile.test.ts.

import { testShortForm } from '../short-form.ts';
import { hostile } from './hostile.ts';

const values = { requests: '2000', tokens: '1000', files: '300', feeds: '200' };
testShortForm({ ...hostile, short: { minutes: 20, values } });
