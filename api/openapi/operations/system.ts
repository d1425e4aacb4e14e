import type { Operation } from '../operation';
import { errors, json } from '../operation';

export const SYSTEM_OPERATIONS: Operation[] = [
  {
    method: 'get',
    path: '/health',
    summary: 'Whether the process is alive',
    responses: { 200: json('Always, while it is', 'AnyObject') },
  },
  {
    method: 'get',
    path: '/health/ready',
    summary: 'Whether requests can be served',
    responses: {
      200: json('Ready', 'AnyObject'),
      503: json('Something that is needed cannot be reached', 'AnyObject'),
    },
  },
  {
    method: 'get',
    path: '/api/v1/auth/me',
    summary: 'Who is signed in',
    responses: { 200: json('The user', 'AnyObject'), ...errors({ 401: 'Nobody' }) },
  },
  {
    method: 'get',
    path: '/api/v1/auth/setup-status',
    summary: 'Whether the first user is still to be made',
    responses: { 200: json('The answer', 'AnyObject') },
  },
];
