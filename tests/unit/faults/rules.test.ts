import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../faults/checker';
import { rules } from '../../faults/checker/rules';
import { endingCases } from './cases/endings';
import { effectCases } from './cases/effects';
import { leftoverCases } from './cases/leftovers';
import { readerCases } from './cases/readers';
import { replyCases } from './cases/replies';
import { sightCases } from './cases/sight';
import { loseWorkflow, workflowCases } from './cases/workflows';
import { FIRST, STOPPED, THREAD, messageOf, only, runOf, soundEvidence } from './sound-evidence';

const cases = [
  ...endingCases,
  ...readerCases,
  ...replyCases,
  ...effectCases,
  ...leftoverCases,
  ...workflowCases,
  ...sightCases,
];
const RULES = join(__dirname, '../../faults/checker/rules');

test('a cluster that kept every promise has no violation', () => {
  expect(check(soundEvidence())).toEqual([]);
});

describe('a broken promise is reported, and no other one', () => {
  test.each(cases)('$rule: $title', ({ rule, break: spoil, says }) => {
    const evidence = soundEvidence();
    spoil(evidence);
    const violations = check(evidence);
    expect([...new Set(violations.map((violation) => violation.rule))]).toEqual([rule]);
    expect(violations.map(({ message }) => message).join('\n')).toMatch(says);
  });

  test('an open run whose workflow is gone is reported beside its missing end', () => {
    const evidence = soundEvidence();
    loseWorkflow(evidence);
    expect(check(evidence)).toEqual([
      {
        rule: 'one-terminal-status',
        subject: STOPPED,
        message: 'the run has not ended: status running, admission active',
      },
      {
        rule: 'workflow-and-run-differ',
        subject: STOPPED,
        message: 'the run is running, its workflow was never started',
      },
    ]);
  });
});

describe('what may happen is no violation', () => {
  test('a question that was on its way while another attempt committed, also out of a process that stood still', () => {
    const evidence = soundEvidence();
    const asked = only(evidence.modelRequests, ({ id }) => id === 'q3');
    const awake = only(evidence.disturbances, () => true).to;
    evidence.modelRequests.push({ ...asked, id: 'late', attempt: 3, askedAt: awake + 400 });
    // The same, where it read the conversation when the reply was in it.
    evidence.modelRequests.push({ ...asked, id: 'later', turn: 3, unknownOutcomes: 1, askedAt: awake - 5_100 });
    expect(check(evidence)).toEqual([]);
  });

  test('a run that was stopped too late, or that its scenario kept from its model, may end either way', () => {
    const evidence = soundEvidence();
    runOf(evidence, STOPPED).status = 'success';
    only(evidence.accepted, ({ runId }) => runId === FIRST).mayFail = true;
    runOf(evidence, FIRST).status = 'error';
    expect(check(evidence)).toEqual([]);
  });

  test('a thread that waits at a breakpoint has calls without results', () => {
    const evidence = soundEvidence();
    evidence.messages = evidence.messages.filter(({ body }) => body.id !== 'a3' && body.id !== 't3');
    evidence.turns = evidence.turns.filter(({ turn }) => turn !== 3);
    evidence.modelRequests = evidence.modelRequests.filter(({ id }) => id !== 'q4');
    evidence.effects = evidence.effects.filter(({ token }) => token !== 'fx-one-2-0');
    Object.assign(runOf(evidence, FIRST), { llmCallCount: 2, inputTokens: 30, outputTokens: 2, totalTokens: 32 });
    Object.assign(
      only(evidence.toolCalls, ({ turn }) => turn === 2),
      { state: 'planned', attempts: 0, startedAt: null, endedAt: null },
    );
    only(evidence.threads, ({ threadId }) => threadId === THREAD).waitsFor = ['tools'];
    expect(check(evidence)).toEqual([]);
  });

  test('a thread that was taken back shows older versions of its messages, which count once', () => {
    const evidence = soundEvidence();
    for (const id of ['a1', 't1', 't2']) {
      const fact = messageOf(evidence, id);
      evidence.messages.push({ ...fact, since: 20 });
      fact.until = 20;
    }
    expect(check(evidence)).toEqual([]);
  });

  test('a run that was stopped before it began has no record of its own end', () => {
    const evidence = soundEvidence();
    evidence.journal = evidence.journal.filter(({ runId }) => runId !== STOPPED);
    evidence.turns = evidence.turns.filter(({ runId }) => runId !== STOPPED);
    evidence.toolCalls = evidence.toolCalls.filter(({ runId }) => runId !== STOPPED);
    evidence.messages = evidence.messages.filter(({ runId }) => runId !== STOPPED);
    evidence.effects = evidence.effects.filter(({ token }) => !token.startsWith('fx-two'));
    evidence.modelRequests = evidence.modelRequests.filter(({ key }) => key !== 'key-two');
    Object.assign(runOf(evidence, STOPPED), { llmCallCount: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 });
    expect(check(evidence)).toEqual([]);
  });
});

describe('the rules themselves', () => {
  test('every rule has a test in which it is broken', () => {
    expect([...new Set(cases.map(({ rule }) => rule))].sort()).toEqual(rules.map(({ name }) => name).sort());
  });

  test('every rule that a file exports is in force', () => {
    const exported = readdirSync(RULES)
      .filter((file) => file !== 'index.ts')
      .flatMap((file) => [...readFileSync(join(RULES, file), 'utf8').matchAll(/^export const (\w+): Rule/gm)]);
    expect(exported.length).toBeGreaterThan(0);
    expect(exported).toHaveLength(rules.length);
    const index = readFileSync(join(RULES, 'index.ts'), 'utf8');
    const listed = index.slice(index.indexOf('const rules'));
    for (const [, name] of exported) expect(listed).toMatch(new RegExp(`^ {2}${name},$`, 'm'));
  });

  test('every rule says what it promises, under a name of its own', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    for (const { promise } of rules) expect(promise).toMatch(/^[A-Z].*\.$/);
  });
});
