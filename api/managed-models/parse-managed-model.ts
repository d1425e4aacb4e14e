import type { Request, Response } from 'express';
import { managedModelRequestSchema } from '../../contracts/schemas/managed-models';
import type { ManagedModelRequest } from '../../contracts/schemas/managed-models';
import { bodyAsSent } from '../http/body';
import type { RequestFault } from '../http/validation';
import { RequestValidationError, parse } from '../http/validation';

/** Names of fields as they are in the product; anything else may be a value that got into the wrong place. */
const FIELD_NAME = /^[a-z_]{1,40}$/;

/** Faults without what was sent: any part of such a request may be a key. */
export function parseManagedModelRequest(request: Request, response: Response): ManagedModelRequest {
  try {
    return parse(managedModelRequestSchema, bodyAsSent(request, response), 'body');
  } catch (error) {
    if (!(error instanceof RequestValidationError)) throw error;
    throw new RequestValidationError(error.faults.map(withoutInput));
  }
}

function withoutInput({ type, loc, msg, ctx }: RequestFault): RequestFault {
  const known = loc.filter((part) => typeof part === 'number' || FIELD_NAME.test(part));
  return { type, loc: known, msg, input: undefined, ...(ctx === undefined ? {} : { ctx }) };
}
