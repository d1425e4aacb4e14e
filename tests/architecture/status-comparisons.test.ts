import * as ts from 'typescript';
import { RUN_STATUSES } from '../../contracts';
import { parseSource, placeOf, sourcesIn } from './project';

const STATUSES = new Set<string>(RUN_STATUSES);
/** A tool's result has a status of its own, with two of the same words; so has a tool message as a client sends it. */
const TOOL_RESULTS = /^((message|outcome|change)\.status|source\['status'\])$/;
const COMPARISONS = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
]);

function isStatusWord(node: ts.Node): boolean {
  return ts.isStringLiteral(node) && STATUSES.has(node.text);
}

function isRunStatus(node: ts.Expression): boolean {
  const text = node.getText();
  return /status(['"]\])?$/i.test(text) && !TOOL_RESULTS.test(text);
}

function comparesStatuses(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind)) {
    const { left, right } = node;
    return (isStatusWord(left) && isRunStatus(right)) || (isStatusWord(right) && isRunStatus(left));
  }
  if (ts.isSwitchStatement(node) && isRunStatus(node.expression)) {
    return node.caseBlock.clauses.some((clause) => ts.isCaseClause(clause) && isStatusWord(clause.expression));
  }
  // A list of statuses is there to be compared with.
  return ts.isArrayLiteralExpression(node) && node.elements.length > 1 && node.elements.every(isStatusWord);
}

function comparisonsIn(path: string): string[] {
  const source = parseSource(path);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (comparesStatuses(node)) found.push(`${placeOf(source, node)} ${node.getText().split('\n')[0] ?? ''}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('the run state machine', () => {
  it('is asked, and nowhere rebuilt: only core/run-status.ts and db/ compare run statuses', () => {
    const folders = ['api', 'activities', 'workflows', 'workers', 'temporal', 'models', 'tools', 'sandbox', 'core'];
    const files = sourcesIn(folders).filter((path) => path !== 'core/run-status.ts');
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(comparisonsIn)).toEqual([]);
  });
});
