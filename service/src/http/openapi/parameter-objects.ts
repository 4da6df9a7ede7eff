// The parameters in the OpenAPI document.

import type { ApiParameter } from '@offerbook/site/docs/api-document.ts';
import { PARAMETERS, type ParameterName } from '../operations/parameters.ts';
import type { Schema } from './component-schemas.ts';

const USER_FILTER =
  'Returns only transactions of this user. Case-sensitive. Combines with the other parameters.';

/** Returns a query parameter of a list. `pageSize` is the default for `limit`. */
export function listParameter(name: ParameterName, pageSize: number): ApiParameter {
  const parameter = linkParameter(name);
  if (name === 'passbackUid') return { ...parameter, description: USER_FILTER };
  return name === 'limit' ? { ...parameter, schema: { ...parameter.schema, default: pageSize } } : parameter;
}

/** Returns a query parameter of an activation link. */
export function linkParameter(name: ParameterName, required = false): ApiParameter {
  const { description, schema, example } = PARAMETERS[name];
  return { name, in: 'query', description, ...(required && { required }), schema, example };
}

export function pathParameter(
  name: string,
  description: string,
  schema: Schema,
  example: string,
): ApiParameter {
  return { name, in: 'path', required: true, description, schema, example };
}
