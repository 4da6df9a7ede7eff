import { testShortForm } from '../short-form.ts';
import { hostile } from './hostile.ts';

testShortForm(
  hostile,
  'hostile requests, tokens and files cause no failure, and every response is documented',
);
