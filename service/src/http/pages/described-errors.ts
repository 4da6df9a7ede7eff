// The API errors with an example response each, for the pages under /errors/.

import type { DescribedError } from '@offerbook/site/error-pages.ts';
import { ERROR_CODES, ERRORS } from '../../domain/api-errors.ts';
import { exampleProblem } from '../openapi/examples.ts';
import { listRetailers } from '../operations/list-retailers.ts';
import { listTransactions } from '../operations/list-transactions.ts';

export const DESCRIBED_ERRORS: readonly DescribedError[] = ERROR_CODES.map((code) => {
  const operation = code === 'private_token_in_browser' ? listTransactions : listRetailers;
  return { code, ...ERRORS[code], example: exampleProblem(code, operation) };
});
