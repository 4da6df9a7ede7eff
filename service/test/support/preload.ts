// Runs before the first test file: makes sure that what a test starts is stopped when the last one is done.

import { afterAll } from 'bun:test';
import { stopPostgres } from './postgres-server.ts';

afterAll(stopPostgres);
