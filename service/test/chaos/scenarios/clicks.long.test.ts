import { testShortForm } from '../short-form.ts';
import { clicks } from './clicks.ts';

testShortForm(clicks, 'no click is lost when servers are killed and the database is unavailable for a while');
