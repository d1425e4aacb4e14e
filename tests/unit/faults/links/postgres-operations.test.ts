import { createTransactionNames, operationOf } from '../../../faults/links/postgres-operations';

const step = (content: object) => ({
  name: 'commit-step',
  text: 'select commit_step($1::jsonb) as result',
  parameters: [JSON.stringify(content)],
});
const plain = (text: string) => ({ name: '', text, parameters: [] });

function namesOf(texts: readonly string[]): string[] {
  const names = createTransactionNames();
  return texts.map((text) => names.next(operationOf(plain(text))));
}

describe('names of what passes a line to PostgreSQL', () => {
  it('tell a reply from a result and from other steps', () => {
    expect(operationOf(step({ turn: { turn: 1 }, usage: { calls: 1 } }))).toBe('commit of a reply');
    expect(operationOf(step({ tool_result: { turn: 1 } }))).toBe('commit of a tool result');
    expect(operationOf(step({ checkpoint: {} }))).toBe('commit of a step');
  });

  it('call a commit after what its transaction did first', () => {
    const ending = "update runs set status = $2, admission = 'ended', error = $3";
    expect(namesOf(['begin', 'select 1 from threads', ending, 'commit', 'select now() as t']).at(3)).toBe(
      'postgres:commit of an end',
    );
    const beginning = ['begin', "update runs set status = 'running'", 'select commit_step($1::jsonb)', 'commit'];
    expect(namesOf(beginning).at(-1)).toBe('postgres:commit of a begin');
  });

  it('do not take a transaction that was rolled back for a commit', () => {
    const texts = ['begin', 'insert into runs (run_id)', 'rollback', 'begin', 'commit'];
    expect(namesOf(texts)).toEqual([
      'postgres:begin',
      'postgres:(inside) commit of an admission',
      'postgres:rollback',
      'postgres:begin',
      'postgres:commit of a transaction',
    ]);
  });

  it('are the first words of what has no name', () => {
    expect(namesOf(['SELECT run_id, status from runs'])).toEqual(['postgres:select run_id, status']);
  });
});
