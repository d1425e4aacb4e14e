import type { Operation } from '../operation';
import { json } from '../operation';

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
];
