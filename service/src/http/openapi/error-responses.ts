// The error responses of an operation in the OpenAPI document, by status. Several codes can share a status.

import type { ApiResponse } from '@offerbook/site/docs/api-document.ts';
import { ERRORS, type ErrorCode } from '../../domain/api-errors.ts';
import { schemaRef } from './component-schemas.ts';
import { type ExampleContext, exampleProblem } from './examples.ts';
import { COMMON_ERROR_HEADERS, ERROR_HEADERS, headerRefs } from './header-objects.ts';

const PAGE = { 'text/html': { schema: { type: 'string', description: 'HTML page' } } };

export function errorResponses(
  codes: readonly ErrorCode[],
  operation: ExampleContext,
  publicUrl: string | undefined,
): Record<string, ApiResponse> {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => [
      status,
      {
        description: sharing.map((code) => `${code}: ${ERRORS[code].title}`).join('. '),
        headers: headerRefs([
          ...COMMON_ERROR_HEADERS,
          ...new Set(sharing.flatMap((code) => ERROR_HEADERS[code] ?? [])),
        ]),
        content: {
          'application/problem+json': {
            schema: schemaRef('Problem'),
            examples: Object.fromEntries(
              sharing.map((code) => [code, { value: exampleProblem(code, operation, publicUrl) }]),
            ),
          },
          // Browsers follow links only with GET, so a 405 is never an HTML page.
          ...(operation.isLink === true && status !== ERRORS.method_not_allowed.status ? PAGE : {}),
        },
      },
    ]),
  );
}
