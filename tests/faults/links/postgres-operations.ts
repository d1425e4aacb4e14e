/** Names for what passes a link to PostgreSQL, in words of the product. */
export interface Statement {
  name: string;
  text: string;
  parameters: readonly string[];
}

/** The names that scenarios use. What is none of these has its first words as its name. */
export const POSTGRES_OPERATIONS = [
  'commit of a begin',
  'commit of a reply',
  'commit of a tool result',
  'commit of an end',
  'commit of an admission',
  'commit of a cancel',
  'start of a tool',
  'append of events',
  'read of events',
  'facts of a step',
] as const;

export type PostgresOperation = (typeof POSTGRES_OPERATIONS)[number];

const BY_STATEMENT: Readonly<Record<string, PostgresOperation>> = {
  'append-events': 'append of events',
  'read-events': 'read of events',
  'step-facts': 'facts of a step',
};

/** A statement outside a transaction commits by itself; inside one it says what the later `commit` is a commit of. */
const BY_TEXT: ReadonlyArray<[pattern: RegExp, operation: PostgresOperation]> = [
  [/update tool_calls set state = 'started'/, 'start of a tool'],
  [/update runs set status = 'running'/, 'commit of a begin'],
  [/update runs set status = \$2, admission = 'ended'/, 'commit of an end'],
  [/insert into runs /, 'commit of an admission'],
  [/set cancel_action = coalesce/, 'commit of a cancel'],
];

export function operationOf({ name, text, parameters }: Statement): string {
  if (name === 'commit-step' || text.includes('select commit_step(')) return stepOperation(parameters[0] ?? '');
  const known = BY_STATEMENT[name] ?? BY_TEXT.find(([pattern]) => pattern.test(text))?.[1];
  return known ?? text.trim().split(/\s+/).slice(0, 3).join(' ').toLowerCase();
}

function stepOperation(parameter: string): string {
  const step = parameter.startsWith('{') ? (JSON.parse(parameter) as Record<string, unknown>) : {};
  if ('tool_result' in step) return 'commit of a tool result';
  return 'usage' in step && 'turn' in step ? 'commit of a reply' : 'commit of a step';
}

/** Follows the transactions of one connection: `commit` is named after what the transaction did. */
export function createTransactionNames(): { next(operation: string): string } {
  let inside: string | null = null;
  return {
    next(operation) {
      if (operation === 'begin') {
        inside = 'commit of a transaction';
        return 'postgres:begin';
      }
      if (inside === null) return `postgres:${operation}`;
      if (operation === 'commit' || operation === 'rollback') {
        const name = operation === 'commit' ? inside : operation;
        inside = null;
        return `postgres:${name}`;
      }
      // The first thing that has a name gives the transaction its own; a step inside belongs to it.
      if (inside === 'commit of a transaction' && isNamed(operation)) inside = operation;
      return `postgres:(inside) ${operation}`;
    },
  };
}

function isNamed(operation: string): boolean {
  return (POSTGRES_OPERATIONS as readonly string[]).includes(operation) && operation.startsWith('commit of');
}
